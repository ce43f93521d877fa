import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from './figures.ts'
import { gitEnv } from './repository.ts'
import { freePort } from './service.ts'
import { repositoryProject } from './world.ts'

export type CloneTimes = { serviceMs: number; daemonMs: number; ratio: number; rounds: number }

/** Clones the large repository from the service over HTTP and from `git daemon`, in turns; medians. */
export async function cloneTimes(port: number, gitDir: string, folder: string, rounds: number): Promise<CloneTimes> {
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
    const least: number[] = []
    const fromService = () => clone(`http://127.0.0.1:${port}/group-1/project-${repositoryProject}.git`, target)
    const fromDaemon = () => clone(`git://127.0.0.1:${daemonPort}/${repositoryProject}.git`, target)
    await fromDaemon()
    await fromService()
    for (let round = 0; round < rounds; round++) {
      // Who goes first changes, because the one after finds another machine.
      if (round % 2 === 0) least.push(await fromDaemon())
      service.push(await fromService())
      if (round % 2 === 1) least.push(await fromDaemon())
    }
    const [serviceMs, daemonMs] = [median(service), median(least)]
    return { serviceMs, daemonMs, ratio: serviceMs / daemonMs, rounds }
  } finally {
    daemon.kill()
  }
}

async function clone(url: string, target: string): Promise<number> {
  rmSync(target, { recursive: true, force: true })
  const began = performance.now()
  const child = spawn('git', ['clone', '--quiet', '--bare', url, target], { env: gitEnv, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  const took = performance.now() - began
  if (code !== 0) throw new Error(`cloning ${url} failed`)
  rmSync(target, { recursive: true, force: true })
  return took
}
