import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { backUp, command } from '../backups/commands.ts'
import { startInstallation, stop } from '../backups/installation.ts'
import type { Service } from '../service.ts'

/** The metrics of backups, by name and labels. */
async function metricsOf({ root }: Service): Promise<Record<string, number>> {
  const { text } = await root.get('//-/metrics')
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.startsWith('stithy_backup_'))
      .map((line) => [line.slice('stithy_backup_'.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

const lineOf = (out: string): string => /^(\w+ +Backup .*)$/m.exec(out)?.[1]?.replace(/ +/g, ' ') ?? ''

test('metrics and doctor show the last backup and its age, also after one that failed', async () => {
  const { env, service, store } = await startInstallation({ STITHY_BACKUP_AT: '02:30' })
  const doctor = async () => lineOf((await command(['doctor'], env)).out)
  expect(await metricsOf(service)).toEqual({})
  expect(await doctor()).toBe('warning Backup STITHY_BACKUP_AT is set, and no backup has succeeded yet')

  await backUp(env)
  const shown = await metricsOf(service)
  expect(Object.keys(shown).toSorted()).toEqual([
    'last_result{result="succeeded"}',
    'last_success_age_seconds',
    'last_success_duration_seconds',
    'last_success_size_bytes',
    'last_success_stored_bytes',
    'last_success_timestamp_seconds',
  ])
  for (const value of Object.values(shown)) expect(value).toBeGreaterThan(0)
  expect(await doctor()).toMatch(/^ok Backup the last one ended \d+ minutes ago, took \d+ s$/)
  const file = join(env.STITHY_DATA_DIR, 'last-backup.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  // One that goes elsewhere is not the one of the schedule.
  await backUp(env, '--to', `${store}-elsewhere`)
  expect((await metricsOf(service))['last_success_timestamp_seconds']).toBe(shown['last_success_timestamp_seconds'])

  await rm(store, { recursive: true })
  await writeFile(store, 'not a folder')
  expect((await command(['backup'], env)).code).toBe(1)
  expect(await metricsOf(service)).toMatchObject({
    'last_result{result="failed"}': 1,
    last_success_timestamp_seconds: shown['last_success_timestamp_seconds'],
  })
  expect(await doctor()).toMatch(/^warning Backup the last one, of \S+Z, failed: Cannot use the folder of backups/)

  await writeFile(file, '{')
  expect(await metricsOf(service)).toEqual({})
  await stop(service)
})

test('a backup to another place records nothing, whether it fails or succeeds, with the settings of the service and without', async () => {
  const { env, service, store } = await startInstallation()
  const folder = await temporaryFolder()
  const impossible = join(folder, 'file')
  await writeFile(impossible, 'not a folder')
  const without = { ...env, STITHY_BACKUP_URL: '' }
  const shown = async () => {
    const { last_success_age_seconds: _, ...rest } = await metricsOf(service)
    return rest
  }
  await backUp(env)
  const before = await shown()
  for (const own of [env, without]) {
    expect((await command(['backup', '--to', impossible], own)).code).toBe(1)
    await backUp(own, '--to', join(folder, 'elsewhere'))
    expect(await shown()).toEqual(before)
    expect(lineOf((await command(['doctor'], own)).out)).toMatch(/^ok Backup the last one ended/)
  }

  // Those to the usual place are recorded, however they were started.
  await rm(store, { recursive: true })
  await writeFile(store, 'not a folder')
  expect((await command(['backup', '--to', store], without)).code).toBe(1)
  await backUp(without, '--to', join(folder, 'elsewhere'))
  expect(await shown()).toMatchObject({ 'last_result{result="failed"}': 1 })

  // A new place is not shown with the backups of the old one.
  const moved = { ...env, STITHY_BACKUP_URL: join(folder, 'elsewhere'), STITHY_BACKUP_AT: '02:30' }
  expect(lineOf((await command(['doctor'], moved)).out)).toMatch(/^warning Backup .*no backup has succeeded yet$/)
  await backUp(moved)
  expect(lineOf((await command(['doctor'], moved)).out)).toMatch(/^ok Backup the last one ended/)
  await stop(service)
})

test('without STITHY_BACKUP_URL the usual place is that of the first success', async () => {
  const { env, service, store } = await startInstallation({ STITHY_BACKUP_URL: '' })
  const impossible = join(await temporaryFolder(), 'file')
  await writeFile(impossible, 'not a folder')
  expect((await command(['backup', '--to', impossible], env)).code).toBe(1)
  expect(await metricsOf(service)).toEqual({ 'last_result{result="failed"}': 1 })
  await backUp(env, '--to', store)
  expect((await command(['backup', '--to', impossible], env)).code).toBe(1)
  expect(await metricsOf(service)).toMatchObject({ 'last_result{result="succeeded"}': 1 })
  await stop(service)
})

test('a backup where no installation is leaves nothing in the folder, and says one sentence', async () => {
  const folder = await temporaryFolder()
  const words = ['backup', '--to', join(await temporaryFolder(), 'backups')]
  const { code, err } = await command(words, { STITHY_DATA_DIR: folder })
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`There is no installation in ${folder}`) })
  expect(err).not.toContain('could not be recorded')
  expect(await readdir(folder)).toEqual([])
})
