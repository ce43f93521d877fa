import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { backUp, command, copyEnv } from '../backups/commands.ts'
import { refusal, startInstallation, stop } from '../backups/installation.ts'
import { serve } from '../service.ts'

/** Mounts a file system of this size, without content; false where that is not permitted. */
async function mounted(megabytes: number): Promise<string | undefined> {
  const path = await temporaryFolder()
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'stithy', path])
  if (mount.status !== 0) return undefined
  onTestFinished(() => void spawnSync('umount', ['-l', path]))
  return path
}

const resize = (path: string, megabytes: number) =>
  expect(spawnSync('mount', ['-o', `remount,size=${megabytes}m`, path]).status).toBe(0)

test('a restore onto a full disk ends with one sentence, starts nothing, and succeeds when there is room', async ({
  skip,
}) => {
  const disk = await mounted(1)
  if (disk === undefined) return skip('nothing can be mounted here')
  const { env, service } = await startInstallation()
  await backUp(env)
  await stop(service)
  const copy = { ...(await copyEnv(env)), STITHY_DATA_DIR: join(disk, 'copy') }
  const mark = join(copy.STITHY_DATA_DIR, 'unfinished-restore')
  const refused: number[] = []
  for (const megabytes of [1, 10, 30, 45, 55, 60, 70]) {
    resize(disk, megabytes)
    const { code, err } = await command(['restore'], copy)
    // A disk of this size suffices.
    if (code === 0) break
    expect(err.replace(/^Creating the database…\n/, '')).toMatch(
      /^(The disk of \S+ (of the database or of the blobs )?is full: make room there, and repeat the restore\.|There is not enough room for the backup in \S+: .* are free\.|Cannot write to the data folder .*: no space left on device\.)\n$/,
    )
    refused.push(megabytes)
    if (existsSync(mark)) expect(await refusal(copy)).toMatch(/restore .* has not been completed/)
  }
  expect(refused.length).toBeGreaterThan(3)
  rmSync(copy.STITHY_DATA_DIR, { recursive: true, force: true })
  resize(disk, 2)
  expect((await command(['restore'], copy)).code).toBe(1)
  resize(disk, 400)
  expect(await command(['restore'], copy)).toMatchObject({
    code: 0,
    out: expect.stringContaining('No problems found.'),
  })
  const restarted = await serve(copy)
  expect((await restarted.root.get('/projects/1/issues')).json).toHaveLength(1)
  await stop(restarted)
  expect(readdirSync(copy.STITHY_DATA_DIR)).not.toContain('unfinished-restore')
})
