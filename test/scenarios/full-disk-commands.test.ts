import { spawnSync } from 'node:child_process'
import { appendFileSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, serve } from '../service.ts'

/** Takes all room of the disk of a file. */
function fill(file: string): void {
  writeFileSync(file, '')
  const { bavail, bsize } = statfsSync(join(file, '..'))
  try {
    appendFileSync(file, Buffer.alloc(bavail * bsize, 1))
  } catch (error) {
    // The service has written meanwhile, so that less was free.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
  expect(statfsSync(join(file, '..')).bavail).toBe(0)
}

test('commands and a backup to another disk succeed beside a running service whose disk is full', async ({ skip }) => {
  const disk = await temporaryFolder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'stithy', disk]).status !== 0)
    return skip('nothing can be mounted here')
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  const env = await freshEnv()
  const copy = { ...env, STITHY_DATA_DIR: join(disk, 'data') }
  expect(spawnSync('cp', ['-a', env.STITHY_DATA_DIR, copy.STITHY_DATA_DIR]).status).toBe(0)
  await serve(copy)
  const [filler, elsewhere] = [join(disk, 'filler'), await temporaryFolder()]
  fill(filler)
  for (const words of [['user', 'list'], ['check'], ['backup', '--to', elsewhere]]) {
    const launched = new Launched(words, copy, { file: bin })
    expect([await launched.exit, launched.err], launched.err).toEqual([0, expect.not.stringContaining('Cannot write')])
  }
  const verify = new Launched(['backup', 'verify', '--from', elsewhere], copy, { file: bin })
  expect([await verify.exit, verify.out]).toEqual([0, expect.stringMatching(/^1 backup verified .*, 0 problems\.\n$/)])
})
