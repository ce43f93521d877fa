import { chmodSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort, Launched, temporaryFolder, titleOf } from '../../src/processes/testing/launch.ts'
import { Client, git } from '../world.ts'

const bin = fileURLToPath(new URL('../../bin/stithy.js', import.meta.url))
const token = 'root-token-for-tests'

/** Files and folders with any permission for group or others, relative to `folder`. Links have no modes. */
function openToOthers(folder: string): string[] {
  const found: string[] = []
  const visit = (path: string) => {
    // Some are created and removed while the service runs.
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (!facts || facts.isSymbolicLink()) return
    if ((facts.mode & 0o077) !== 0 && !facts.isSocket()) found.push(relative(folder, path))
    if (facts.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name))
  }
  visit(folder)
  // A copy of the PostgreSQL programs, which are not secret, in a private folder.
  return found.filter((path) => !/^postgres\/(postgresql-|lib)/.test(path))
}

/** Title and umask of a process; undefined if it has ended, even if its parent has not noticed yet: a zombie has neither. */
function umaskOf(pid: number): readonly [title: string, umask: string | undefined] | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    if (/^State:\s*[ZX]/m.test(status)) return undefined
    return [titleOf(pid).slice(0, 60), /^Umask:\s*(\d+)$/m.exec(status)?.[1]]
  } catch {
    return undefined
  }
}

test('a start makes all files of the data folder private, those of a former version too', async () => {
  const folder = await temporaryFolder()
  const env = {
    STITHY_DATA_DIR: folder,
    STITHY_HTTP_PORT: String(await freePort()),
    STITHY_ROOT_TOKEN: token,
    STITHY_LOG_LEVEL: 'fatal',
    STITHY_PROCESSES: '1',
  }
  const origin = `http://127.0.0.1:${env.STITHY_HTTP_PORT}`
  const root = new Client(origin, { id: 1, username: 'root', token })
  const launched = new Launched(['serve'], env, { file: bin })
  await launched.ready()
  const { id } = (await root.post('/projects', { path: 'private', initialize_with_readme: true })).json
  const upload = new FormData()
  upload.append('file', new Blob(['attached']), 'attached.txt')
  await fetch(`${origin}/api/v4/projects/${id}/uploads`, {
    method: 'POST',
    headers: { 'private-token': token },
    body: upload,
  })
  const work = await temporaryFolder()
  const remote = `${origin.replace('http://', `http://root:${token}@`)}/root/private.git`
  await git(work, 'clone', '-q', remote, '.')
  await writeFile(join(work, 'file'), 'content\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'File')
  await git(work, 'push', '-q', 'origin', 'HEAD')
  expect(openToOthers(folder)).toEqual([])
  const masks = launched
    .family()
    .map(umaskOf)
    .filter((facts) => facts !== undefined)
  expect(masks.length).toBeGreaterThan(5)
  expect(masks.filter(([, mask]) => mask !== '0077')).toEqual([])

  launched.process.kill('SIGTERM')
  await launched.exit
  const widen = (path: string, depth: number) => {
    const facts = lstatSync(path)
    if (facts.isSymbolicLink() || facts.isSocket() || (depth === 1 && path.endsWith('/postgres'))) return
    chmodSync(path, facts.mode | (facts.isDirectory() ? 0o055 : 0o044))
    if (facts.isDirectory()) for (const name of readdirSync(path)) widen(join(path, name), depth + 1)
  }
  widen(folder, 0)
  chmodSync(join(folder, 'postgres'), 0o755)
  expect(openToOthers(folder).length).toBeGreaterThan(20)
  const again = new Launched(['serve'], env, { file: bin })
  await again.ready()
  expect(openToOthers(folder)).toEqual([])
  expect((await root.get(`/projects/${id}/repository/files/file/raw?ref=master`)).text).toBe('content\n')
  expect(again.out).toMatch(/"msg":"Made \d+ files and folders private/)
})
