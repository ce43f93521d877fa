import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { backUp, command, copyEnv, listed } from '../backups/commands.ts'
import { contentsOf } from '../backups/contents.ts'
import { Load } from '../backups/load.ts'
import { freshEnv, serve } from '../service.ts'

/** More with STITHY_TEST_BACKUPS=20. */
const count = Number(process.env['STITHY_TEST_BACKUPS'] ?? 2)

test(`each of ${count} backups under load, restored, has every write that was acknowledged before its moment, and no later one`, {
  timeout: 200_000 + count * 100_000,
}, async () => {
  const env = await freshEnv()
  Object.assign(env, { STITHY_BACKUP_URL: await temporaryFolder(), STITHY_BACKUP_RATE: '5' })
  const service = await serve(env)
  const load = new Load(service)
  await load.begin()
  for (let n = 0; n < count; n++) {
    await pause(Math.random() * 1_500)
    await backUp(env)
  }
  // Something happens after the last moment, too.
  await pause(500)
  await load.end()
  service.launched.process.kill('SIGTERM')
  await service.launched.exit

  const backups = await listed(env)
  expect(backups).toHaveLength(count)
  const faults: string[] = []
  for (const { id, moment } of backups) {
    const copy = await copyEnv(env)
    const restored = await command(['restore', '--at', id, '--quiet'], copy)
    expect(restored.code, restored.out + restored.err).toBe(0)
    const restarted = await serve(copy)
    faults.push(...load.faultsOf(moment, await contentsOf(restarted, load.uploads)).map((fault) => `${id}: ${fault}`))
    restarted.launched.process.kill('SIGTERM')
    await restarted.launched.exit
  }
  console.log(`${load.count} writes, ${count} backups`)
  expect(faults).toEqual([])
})
