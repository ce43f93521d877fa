import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

/** Less than PostgreSQL needs for the next segment of its log. */
const leftBytes = 15_000_000

/** Leaves this room on the disk of a file, which takes all other room. */
function leaveRoom(file: string): void {
  const { bavail, bsize } = statfsSync(join(file, '..'))
  const missing = bavail * bsize - leftBytes
  if (missing > 0) appendFileSync(file, Buffer.alloc(missing, 1))
  else truncateSync(file, statSync(file).size + missing)
}

test('the service outlives a database that a full disk ends, and works again when there is room', async ({ skip }) => {
  const disk = await temporaryFolder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'stithy', disk]).status !== 0)
    return skip('nothing can be mounted here')
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  const env = await freshEnv()
  const copy = { ...env, STITHY_DATA_DIR: join(disk, 'data') }
  expect(spawnSync('cp', ['-a', env.STITHY_DATA_DIR, copy.STITHY_DATA_DIR]).status).toBe(0)
  const { root, launched } = await serve(copy)
  const { id } = (await root.post('/projects', { path: 'kept' })).json
  const at = `/projects/${id}/issues`

  const filler = join(disk, 'filler')
  writeFileSync(filler, '')
  const kept: number[] = []
  for (let status = 0; status !== 503; ) {
    leaveRoom(filler)
    const made = await root.post(at, { title: 'Large', description: randomBytes(250_000).toString('hex') })
    status = made.status
    expect([201, 503, 507]).toContain(status)
    if (status === 201) kept.push(made.json.iid)
  }
  await eventually(() => expect(launched.err).toContain('is full. It is started again when there is room.'))
  // Longer than the attempts take after which the service gives up.
  await delay(8_000)
  expect(await root.get(at)).toMatchObject({ status: 503, json: { message: '503 The database is not available' } })

  rmSync(filler)
  await eventually(async () => expect((await root.get(at)).status).toBe(200))
  for (const iid of kept) expect((await root.get(`${at}/${iid}`)).status).toBe(200)
  expect((await root.post(at, { title: 'There is room' })).status).toBe(201)
})
