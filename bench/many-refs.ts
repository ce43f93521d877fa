import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callApi } from './api.ts'
import { benchFolder } from './data.ts'
import { median } from './figures.ts'
import { startPlainHttp } from './plain-http.ts'
import { git, gitEnv } from './repository.ts'
import { type Service, startService } from './service.ts'
import { addKey, newKey, sshOptions } from './ssh-keys.ts'
import { rootToken } from './world.ts'

export type ManyRefs = { refs: number; rounds: number; plain: number; plainHttp: number; http: number; ssh: number }

/**
 * Pushes that many branches at one commit to new repositories, alternately: with plain git to a folder and over its own HTTP
 * server, both with the service's durability settings, and over HTTP and SSH to the service. Medians in milliseconds.
 */
export async function manyRefsTimes(processes: number, refs: number, rounds: number): Promise<ManyRefs> {
  mkdirSync(benchFolder, { recursive: true })
  const folder = mkdtempSync(join(benchFolder, 'refs-'))
  try {
    await using service = await startService(join(folder, 'data'), processes)
    const key = newKey(folder, 'known')
    await addKey(service.port, key)
    const source = makeSource(join(folder, 'source.git'), refs)
    await using plain = await startPlainHttp(folder)
    const times: Record<'plain' | 'plainHttp' | 'http' | 'ssh', number[]> = {
      plain: [],
      plainHttp: [],
      http: [],
      ssh: [],
    }
    for (let round = 0; round < rounds; round++) {
      times.plain.push(await push(source, makePlain(join(folder, `plain-${round}.git`))))
      times.http.push(await pushToService(source, service, (path) => httpUrl(service, path)))
      times.ssh.push(await pushToService(source, service, (path) => sshUrl(service, path), sshEnv(service, key)))
      makePlain(join(folder, `http-${round}.git`))
      times.plainHttp.push(await push(source, `${plain.url}/http-${round}.git`))
    }
    return {
      refs,
      rounds,
      plain: median(times.plain),
      plainHttp: median(times.plainHttp),
      http: median(times.http),
      ssh: median(times.ssh),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const httpUrl = ({ port }: Service, path: string) => `http://root:${rootToken}@127.0.0.1:${port}/${path}.git`
const sshUrl = ({ sshPort }: Service, path: string) => `ssh://git@127.0.0.1:${sshPort}/${path}.git`
const sshEnv = ({ sshPort }: Service, key: string) => ({
  ...gitEnv,
  GIT_SSH_COMMAND: ['ssh', ...sshOptions(sshPort, key)].join(' '),
})

function makeSource(gitDir: string, refs: number): string {
  git('.', 'init', '--quiet', '--bare', '--initial-branch=main', gitDir)
  const tree = git(gitDir, 'mktree', '--missing')
  const oid = git(gitDir, 'commit-tree', '-m', 'One', tree)
  const names = Array.from({ length: refs }, (_, n) => `refs/heads/branch-${n}`).sort()
  writeFileSync(
    join(gitDir, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${names.map((name) => `${oid} ${name}\n`).join('')}`,
  )
  return gitDir
}

function makePlain(gitDir: string): string {
  git('.', 'init', '--quiet', '--bare', '--initial-branch=main', gitDir)
  for (const [name, value] of [
    ['core.fsync', 'committed,reference'],
    ['core.fsyncMethod', 'fsync'],
    ['http.receivepack', 'true'],
  ] as const)
    git(gitDir, 'config', name, value)
  return gitDir
}

async function push(source: string, url: string, env: NodeJS.ProcessEnv = gitEnv): Promise<number> {
  const began = performance.now()
  const child = spawn('git', ['push', '--quiet', url, 'refs/heads/*:refs/heads/*'], {
    cwd: source,
    env,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the push to ${url} failed`)
  return performance.now() - began
}

async function pushToService(
  source: string,
  { port }: Service,
  urlOf: (path: string) => string,
  env?: NodeJS.ProcessEnv,
): Promise<number> {
  const project = await callApi(port, 'POST', '/projects', { name: `refs-${Date.now()}` })
  return push(source, urlOf(project.path_with_namespace), env)
}
