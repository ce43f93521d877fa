import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { callApi } from './api.ts'
import { median } from './figures.ts'
import { git, gitEnv } from './repository.ts'
import type { Service } from './service.ts'
import { sshOptions } from './ssh-keys.ts'
import { rootToken } from './world.ts'

export type PushTimes = { megabytes: number; httpMs: number; sshMs: number; rounds: number }

const megabytes = 200

/** Pushes 200 MB of incompressible data to new projects, over HTTP and over SSH alternately; medians. */
export async function pushTimes(
  { port, sshPort }: Service,
  key: string,
  folder: string,
  rounds: number,
): Promise<PushTimes> {
  const source = await makeRepository(join(folder, 'random.git'))
  const overHttp = () => pushToNew(source, port, (path) => `http://root:${rootToken}@127.0.0.1:${port}/${path}.git`)
  const sshEnv = { ...gitEnv, GIT_SSH_COMMAND: ['ssh', ...sshOptions(sshPort, key)].join(' ') }
  const overSsh = () => pushToNew(source, port, (path) => `ssh://git@127.0.0.1:${sshPort}/${path}.git`, sshEnv)
  const times: Record<'http' | 'ssh', number[]> = { http: [], ssh: [] }
  await overHttp()
  await overSsh()
  for (let round = 0; round < rounds; round++) {
    // Alternates the order, because the first run affects the second.
    if (round % 2 === 0) times.http.push(await overHttp())
    times.ssh.push(await overSsh())
    if (round % 2 === 1) times.http.push(await overHttp())
  }
  return { megabytes, httpMs: median(times.http), sshMs: median(times.ssh), rounds }
}

/** One commit with files of a megabyte of random bytes each, in one pack. */
async function makeRepository(gitDir: string): Promise<string> {
  git('.', 'init', '--quiet', '--bare', '--initial-branch=main', gitDir)
  const importer = spawn('git', ['fast-import', '--quiet'], { cwd: gitDir, stdio: ['pipe', 'inherit', 'inherit'] })
  const write = async (chunk: string | Buffer) => importer.stdin.write(chunk) || (await once(importer.stdin, 'drain'))
  await write('commit refs/heads/main\ncommitter Bench <bench@example.com> 1500000000 +0000\ndata 6\nRandom\n')
  for (let n = 0; n < megabytes; n++) {
    const bytes = randomBytes(1e6)
    await write(`M 100644 inline file-${n}\ndata ${bytes.length}\n`)
    await write(bytes)
    await write('\n')
  }
  importer.stdin.end()
  const [code] = await once(importer, 'close')
  if (code !== 0) throw new Error(`git fast-import exited with ${code}`)
  return gitDir
}

/** Milliseconds of the push, without creating and deleting the project. */
async function pushToNew(
  source: string,
  port: number,
  urlOf: (path: string) => string,
  env: NodeJS.ProcessEnv = gitEnv,
): Promise<number> {
  const project = await callApi(port, 'POST', '/projects', { name: `push-${Date.now()}` })
  const began = performance.now()
  const child = spawn('git', ['push', '--quiet', urlOf(project.path_with_namespace), 'main'], {
    cwd: source,
    env,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'close')
  const took = performance.now() - began
  if (code !== 0) throw new Error('the push failed')
  await callApi(port, 'DELETE', `/projects/${project.id}`)
  return took
}
