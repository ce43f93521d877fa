import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { median } from './figures.ts'
import { gitEnv } from './repository.ts'
import { freePort, type Service } from './service.ts'
import { repositoryProject, rootToken } from './world.ts'

export type CloneTimes = { serviceMs: number; sshMs: number; refusedMs: number; daemonMs: number; rounds: number }

/**
 * Clones the large repository from the service over HTTP and SSH and from `git daemon`, in turns, and signs in over SSH
 * with a key that nobody has; medians.
 */
export async function cloneTimes(
  { port, sshPort }: Service,
  gitDir: string,
  folder: string,
  rounds: number,
): Promise<CloneTimes> {
  const [known, stranger] = [newKey(folder, 'known'), newKey(folder, 'stranger')]
  await addKey(port, `${known}.pub`)
  const ssh = (key: string) => ({ ...gitEnv, GIT_SSH_COMMAND: ['ssh', ...sshOptions(sshPort, key)].join(' ') })
  const daemonPort = await freePort()
  writeFileSync(join(gitDir, 'git-daemon-export-ok'), '')
  const daemon = spawn(
    'git',
    ['daemon', '--listen=127.0.0.1', `--port=${daemonPort}`, `--base-path=${dirname(gitDir)}`, dirname(gitDir)],
    { env: gitEnv, stdio: 'ignore' },
  )
  try {
    await delay(500)
    const target = join(folder, 'clone')
    const service: number[] = []
    const overSsh: number[] = []
    const refused: number[] = []
    const least: number[] = []
    const fromService = () => clone(`http://127.0.0.1:${port}/group-1/project-${repositoryProject}.git`, target)
    const fromSsh = () =>
      clone(`ssh://git@127.0.0.1:${sshPort}/group-1/project-${repositoryProject}.git`, target, ssh(known))
    const fromDaemon = () => clone(`git://127.0.0.1:${daemonPort}/${repositoryProject}.git`, target)
    await fromDaemon()
    await fromService()
    await fromSsh()
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes, because the one after finds another machine.
      if (round % 2 === 0) least.push(await fromDaemon())
      service.push(await fromService())
      overSsh.push(await fromSsh())
      refused.push(refusedSignIn(sshPort, stranger))
      if (round % 2 === 1) least.push(await fromDaemon())
    }
    return {
      serviceMs: median(service),
      sshMs: median(overSsh),
      refusedMs: median(refused),
      daemonMs: median(least),
      rounds,
    }
  } finally {
    daemon.kill()
  }
}

const sshOptions = (port: number, key: string): string[] => [
  ...['-F', '/dev/null', '-p', String(port), '-i', key],
  ...[
    'BatchMode=yes',
    'IdentitiesOnly=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
  ].flatMap((option) => ['-o', option]),
]

function newKey(folder: string, name: string): string {
  const file = join(folder, `ssh-${name}`)
  const pair = ssh2.utils.generateKeyPairSync('ed25519')
  rmSync(file, { force: true })
  writeFileSync(file, pair.private, { mode: 0o600 })
  writeFileSync(`${file}.pub`, pair.public)
  return file
}

async function addKey(port: number, file: string): Promise<void> {
  const added = await fetch(`http://127.0.0.1:${port}/api/v4/user/keys`, {
    method: 'POST',
    headers: { 'private-token': rootToken, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'bench', key: readFileSync(file, 'utf8') }),
  })
  if (added.status !== 201) throw new Error(`the key was refused: ${await added.text()}`)
}

function refusedSignIn(port: number, key: string): number {
  const began = performance.now()
  const { status } = spawnSync('ssh', [...sshOptions(port, key), 'git@127.0.0.1'], { stdio: 'ignore' })
  if (status !== 255) throw new Error(`ssh ended with ${status} rather than being refused`)
  return performance.now() - began
}

async function clone(url: string, target: string, env: NodeJS.ProcessEnv = gitEnv): Promise<number> {
  rmSync(target, { recursive: true, force: true })
  const began = performance.now()
  const child = spawn('git', ['clone', '--quiet', '--bare', url, target], { env, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  const took = performance.now() - began
  if (code !== 0) throw new Error(`cloning ${url} failed`)
  rmSync(target, { recursive: true, force: true })
  return took
}
