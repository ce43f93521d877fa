import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { repositoryDir } from '../src/modules/projects/repositories/location.ts'
import { ensureRepository, placeRepository } from './repository.ts'
import { seed } from './seed.ts'
import { startService } from './service.ts'
import { type SizeName, sizes } from './sizes.ts'
import { repositoryProject } from './world.ts'

/** Folder of the data that runs share. */
export const benchFolder = join(tmpdir(), 'stithy-bench')

/** A digest of the files that determine the seeded rows: changed files give new data. */
function seedVersion(): string {
  const hash = createHash('sha256')
  for (const name of ['seed.ts', 'seed-merge-requests.ts', 'seed-issues.ts', 'sizes.ts', 'world.ts', 'data.ts'])
    hash.update(readFileSync(new URL(name, import.meta.url)))
  return hash.digest('hex').slice(0, 8)
}

/** The key of the project's repository. */
async function repositoryKey(databaseUrl: string, projectId: number): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client
    .query<{ repository_key: string }>('select repository_key from projects where id = $1', [projectId])
    .finally(() => client.end())
  return rows[0]!.repository_key
}

/** A data folder of this size with the large repository, created below `folder` on first use and reused. */
export async function ensureData(
  size: SizeName,
  progress: (line: string) => void,
  folder = benchFolder,
): Promise<string> {
  const repository = await ensureRepository(folder)
  const dataDir = join(folder, `data-${size}-${seedVersion()}`)
  const done = join(dataDir, 'seeded')
  if (!existsSync(done)) {
    progress(`seeding size ${size}`)
    rmSync(dataDir, { recursive: true, force: true })
    mkdirSync(dataDir, { recursive: true })
    await using service = await startService(dataDir, 1)
    const began = performance.now()
    await seed(service.databaseUrl, sizes[size], repository)
    const gitDir = repositoryDir(join(dataDir, 'repositories'), 'default', repositoryProject)
    await placeRepository(repository, gitDir, await repositoryKey(service.databaseUrl, repositoryProject))
    progress(`seeded in ${Math.round((performance.now() - began) / 1000)} s`)
    writeFileSync(done, '')
  }
  return dataDir
}
