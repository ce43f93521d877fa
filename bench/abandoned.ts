import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from './figures.ts'
import { gitEnv } from './repository.ts'
import { startService } from './service.ts'
import { rootToken } from './world.ts'

/*
 * node bench/abandoned.ts [requests] [clients]: an anonymous client requests archives and closes each connection within a few
 * milliseconds, while another project is cloned repeatedly. On a new installation in a temporary folder.
 */

const requests = Number(process.argv[2] ?? 20_000)
const clients = Number(process.argv[3] ?? 32)
const clonesBefore = 10
const largeBytes = 8 * 1024 * 1024
const floodScript = fileURLToPath(new URL('flood.ts', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'stithy-abandoned-'))
try {
  await using service = await startService(join(folder, 'data'), 2)
  const api = (path: string, body: object) =>
    fetch(`http://127.0.0.1:${service.port}/api/v4${path}`, {
      method: 'POST',
      headers: { 'private-token': rootToken, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(async (answer) => (await answer.json()) as { id: number })
  const remote = (name: string) => `http://root:${rootToken}@127.0.0.1:${service.port}/root/${name}.git`
  const run = (script: string) => execFileSync('sh', ['-ec', script], { cwd: folder, env: gitEnv, stdio: 'pipe' })

  const flooded = await api('/projects', { name: 'flooded', visibility: 'public' })
  await api('/projects', { name: 'other', visibility: 'private' })
  run(`git init -q -b main one && cd one && head -c ${largeBytes} /dev/urandom > large && git add . && git commit -qm Large
    git push -q ${remote('flooded')} main`)
  run(`git init -q -b main two && cd two && for n in $(seq 2000); do echo $n > file$n; done && git add . && git commit -qm Many
    git push -q ${remote('other')} main`)

  let clones = 0
  const cloneMs = async () => {
    const began = performance.now()
    const target = join(folder, `clone-${clones++}`)
    const child = spawn('git', ['clone', '-q', '--bare', remote('other'), target], { env: gitEnv, stdio: 'inherit' })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error('a clone failed')
    const took = performance.now() - began
    rmSync(target, { recursive: true })
    return took
  }

  await cloneMs()
  const before: number[] = []
  for (let n = 0; n < clonesBefore; n++) before.push(await cloneMs())

  const began = performance.now()
  const archive = `/api/v4/projects/${flooded.id}/repository/archive.tar`
  const flood = spawn(
    process.execPath,
    [floodScript, String(service.port), archive, String(requests), String(clients)],
    {
      stdio: 'inherit',
    },
  )
  let isOver = false
  const over = once(flood, 'exit').finally(() => {
    isOver = true
  })
  const during: number[] = []
  while (!isOver) during.push(await cloneMs())
  await over
  const seconds = (performance.now() - began) / 1000
  await sleep(3_000)
  const left = execFileSync('sh', ['-c', `ps -eo args | grep '[g]it .*archive' | grep -c ${folder} || true`])
  const figures = (times: number[]) =>
    `median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms of ${times.length}`
  console.log(`${requests} abandoned requests by ${clients} clients in ${seconds.toFixed(1)} s`)
  console.log(`clone before: ${figures(before)}`)
  console.log(`clone during: ${figures(during)} (${(median(during) / median(before)).toFixed(2)} times)`)
  console.log(`archive processes left after 3 s: ${String(left).trim()}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
