import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from './figures.ts'
import { gitEnv } from './repository.ts'
import { freePort, type Service } from './service.ts'
import { addKey, newKey, sshOptions } from './ssh-keys.ts'
import { repositoryProject } from './world.ts'

export type CloneTimes = { serviceMs: number; sshMs: number; daemonMs: number; rounds: number }

/** Clones the large repository from the service over HTTP and SSH and from `git daemon`, alternately; medians. */
export async function cloneTimes(
  { port, sshPort }: Service,
  gitDir: string,
  folder: string,
  rounds: number,
): Promise<CloneTimes> {
  const known = newKey(folder, 'known')
  await addKey(port, known)
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
    const least: number[] = []
    const fromService = () => clone(`http://127.0.0.1:${port}/group-1/project-${repositoryProject}.git`, target)
    const fromSsh = () =>
      clone(`ssh://git@127.0.0.1:${sshPort}/group-1/project-${repositoryProject}.git`, target, ssh(known))
    const fromDaemon = () => clone(`git://127.0.0.1:${daemonPort}/${repositoryProject}.git`, target)
    await fromDaemon()
    await fromService()
    await fromSsh()
    for (let round = 0; round < rounds; round++) {
      // Alternates the order, because the first run affects the second.
      if (round % 2 === 0) least.push(await fromDaemon())
      service.push(await fromService())
      overSsh.push(await fromSsh())
      if (round % 2 === 1) least.push(await fromDaemon())
    }
    return {
      serviceMs: median(service),
      sshMs: median(overSsh),
      daemonMs: median(least),
      rounds,
    }
  } finally {
    daemon.kill()
  }
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
