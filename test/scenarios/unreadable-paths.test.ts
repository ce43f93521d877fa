import { lstat, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Ctx } from '../../src/api/ctx.ts'
import { parseConfig } from '../../src/config.ts'
import { hasCluster } from '../../src/db/embedded/start.ts'
import { isQuiet } from '../../src/kernel/quiet.ts'
import { removeOldUploads } from '../../src/modules/administration/blob-collection/service.ts'
import { removeOldFolders } from '../../src/modules/portability/archive/work-folder.ts'
import { projectsWithPages } from '../../src/modules/portability/forges/pages.ts'
import { readMarker } from '../../src/modules/projects/installation/marker.ts'
import { checkRepositories } from '../../src/modules/projects/repositories/check.ts'
import { unknownStorages } from '../../src/modules/projects/repositories/storages.ts'
import { oldFiles } from '../../src/modules/registry/uploads/files.ts'
import { proposeRoot } from '../../src/processes/credentials.ts'
import { lockDataDir } from '../../src/processes/data-dir.ts'
import { contextFor } from '../contexts.ts'
import { temporaryFolder, test } from '../world.ts'

/** A link that leads to itself: unlike a file without permissions, root cannot read it either. */
async function makeUnreadable(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(path, path)
}

type Read = (ctx: Ctx, dataDir: string) => unknown

describe('what cannot be read is not taken for absent:', () => {
  test.for<[string, string, Read]>([
    ['the mark of a quiet copy', 'quiet', (_, dataDir) => isQuiet(dataDir)],
    ['the mark of an unfinished restore', 'unfinished-restore', (_, dataDir) => lockDataDir(dataDir)],
    ['the id of the installation', 'installation', (_, dataDir) => readMarker(dataDir)],
    ['the lock of the data folder', 'lock', (_, dataDir) => lockDataDir(dataDir)],
    ['the database', 'postgres/cluster', (_, dataDir) => hasCluster(dataDir)],
    ['repositories of others', 'lost+found', (ctx) => checkRepositories(ctx, [], () => {})],
    ['a storage', 'repositories/fast', (ctx) => unknownStorages(ctx, ['fast'])],
    ['files of forms', 'tmp/uploads', (ctx) => removeOldUploads(ctx, new Date())],
    ['folders of archives', 'tmp/archives', (ctx) => removeOldFolders(ctx)],
    ['pages of imports', 'tmp/forges', (ctx) => projectsWithPages(ctx)],
    [
      'a file of an upload',
      'uploads/0b0c4f5e-3f5e-4a53-9d8e-0f1c5a3d2b1a',
      (_, dataDir) => oldFiles(dataDir, new Date()),
    ],
  ])('%s', async ([, name, read], { world }) => {
    await using folder = await temporaryFolder()
    await makeUnreadable(join(folder.path, name))
    const ctx = { ...(await contextFor(world, world.root)), repositoriesDir: join(folder.path, 'repositories') }
    const error = await (async () => read(ctx, folder.path))().then(String, (error: unknown) => error)
    expect((error as Error).cause ?? error).toMatchObject({ code: 'ELOOP' })
  })

  test('the credentials of the first administrator, which stay', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'root-credentials')
    await makeUnreadable(file)
    const config = parseConfig({ STITHY_DATA_DIR: folder.path })
    expect(() => proposeRoot(config).settle(undefined)).toThrow('ELOOP')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
  })
})
