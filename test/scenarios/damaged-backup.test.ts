import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { backUp, command, copyEnv, listed, objectsIn } from '../backups/commands.ts'
import { keyFile, refusal, startInstallation, stop } from '../backups/installation.ts'
import { rewriteBackup } from '../backups/rewritten.ts'
import type { Env } from '../service.ts'

const verify = (env: Env) => command(['backup', 'verify'], env)

test('an encrypted backup reveals nothing, and only its key restores it', async () => {
  const key = await keyFile()
  const { env, service, store } = await startInstallation({ STITHY_BACKUP_KEY_FILE: key })
  const secret = (await readFile(join(env.STITHY_DATA_DIR, 'secrets.keys'), 'utf8')).trim()
  await backUp(env)
  await stop(service)
  for (const path of await objectsIn(store)) {
    const bytes = await readFile(path)
    for (const text of ['remembered', 'uploaded', secret, 'refs/heads']) expect(bytes.includes(text)).toBe(false)
  }
  const copy = await copyEnv(env)
  const settingsWith = (file: string) => ({ ...copy, STITHY_BACKUP_KEY_FILE: file })
  const { STITHY_BACKUP_KEY_FILE: _, ...without } = settingsWith(key)
  const other = await keyFile('another key of more than thirty-two characters')
  for (const [words, settings, reason, code = 1] of [
    [['restore'], without, 'are encrypted'],
    [['backup', 'list'], without, 'are encrypted'],
    [['backup'], { ...without, STITHY_DATA_DIR: env.STITHY_DATA_DIR }, 'are encrypted'],
    [['restore'], settingsWith(other), 'is not the one'],
    [['backup', 'verify'], settingsWith(other), 'is not the one'],
    [['restore'], settingsWith(await keyFile('short')), 'at least 32 characters', 2],
    [['restore'], settingsWith('/nowhere'), 'Cannot read the key', 2],
  ] as const)
    expect(await command(words, settings)).toMatchObject({ code, err: expect.stringContaining(reason) })
  // Nothing of it prevents the right one.
  expect(await verify(env)).toMatchObject({ code: 0 })
  expect(await command(['restore'], copy)).toMatchObject({
    code: 0,
    out: expect.stringContaining('No problems found.'),
  })
  // With a key, an existing store without encryption is refused: anyone could have put it there.
  const open = join(await temporaryFolder(), 'open')
  await backUp({ ...without, STITHY_DATA_DIR: env.STITHY_DATA_DIR }, '--to', open)
  expect(await command(['backup', '--to', open], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('are not encrypted'),
  })
})

test('a flipped byte and a missing object are reported, and what they damage is not restored', async () => {
  const { env, service, store } = await startInstallation()
  await backUp(env)
  await stop(service)
  const paths = [...(await objectsIn(store)), join(store, 'backups', (await listed(env))[0]!.id)]
  for (const [index, path] of paths.entries()) {
    const bytes = await readFile(path)
    if (index % 2 === 0) await rm(path)
    else {
      const other = Buffer.from(bytes)
      other[Math.floor(other.length / 2)]! ^= 1
      await writeFile(path, other)
    }
    const found = await verify(env)
    // Without its manifest a backup does not exist.
    if (found.code === 0) expect(found.out).toMatch(/^0 backups/)
    else expect(found.err).toMatch(/is missing|other bytes/)
    await writeFile(path, bytes)
  }
  expect(await verify(env)).toMatchObject({ code: 0 })

  // The largest one has data, not the list of it.
  const [victim] = paths.slice(0, -1)
  const bytes = await readFile(victim!)
  await rm(victim!)
  const copy = await copyEnv(env)
  const failed = await command(['restore'], copy)
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('is missing') })
  expect(failed.err).not.toContain('    at ')
  expect(await refusal(copy)).toMatch(/has not been completed/)
  await writeFile(victim!, bytes)
  expect(await command(['restore'], copy)).toMatchObject({ code: 0 })
  expect(await refusal(copy)).toBe('')

  // A full backup replaces what is damaged, and the others do not trip over it.
  const broken = Buffer.from(bytes)
  broken[40]! ^= 1
  for (const path of paths.slice(0, -1)) await writeFile(path, broken)
  await backUp(env)
  await backUp(env, '--full')
  expect(await command(['backup', 'verify', '--at', (await listed(env)).at(-1)!.id], env)).toMatchObject({ code: 0 })
})

test('a damaged blob and a missing repository are reported, and all else is backed up', async () => {
  const { env, service } = await startInstallation()
  const blobs = (await objectsInBlobs(env.STITHY_DATA_DIR)).at(-1)!
  await writeFile(blobs, 'Uploaded')
  await rm(join(env.STITHY_DATA_DIR, 'repositories/default/001/1.git'), { recursive: true })
  const { code, out, err } = await command(['backup'], env)
  expect(code).toBe(1)
  expect(err).toMatch(/the blob [0-9a-f]{64} is damaged/)
  expect(err).toMatch(/the repository of project 1 is missing/)
  expect(out).toMatch(/^Backup /m)
  expect(await listed(env)).toHaveLength(1)
  await stop(service)
})

test('a file that no restore writes is reported and left out, and all else is backed up and restored', async () => {
  const { env, service, store } = await startInstallation()
  const inRepository = (dataDir: string, name: string) => join(dataDir, 'repositories/default/001/1.git', name)
  // Of an editor, of git that was killed, and of an operator.
  await writeFile(inRepository(env.STITHY_DATA_DIR, 'config~'), 'old')
  await writeFile(inRepository(env.STITHY_DATA_DIR, 'packed-refs.new'), '')
  for (const name of ['master~', 'two\nlines'])
    await copyFile(
      inRepository(env.STITHY_DATA_DIR, 'refs/heads/master'),
      inRepository(env.STITHY_DATA_DIR, `refs/heads/${name}`),
    )
  await mkdir(join(env.STITHY_DATA_DIR, 'ssh/old keys'), { recursive: true })
  const backup = await command(['backup'], env)
  expect(backup).toMatchObject({ code: 1, out: expect.stringMatching(/^Backup /m) })
  expect(backup.err).toContain('the repository of project 1: "config~" is left out')
  expect(backup.err).toContain('the data folder: "ssh/old keys" is left out')
  expect(backup.err).toContain('refs/heads/master~ is not the file of a ref')
  expect(backup.err).toMatch(/^4 problems/m)
  await stop(service)
  expect(await verify(env)).toMatchObject({ code: 0 })
  const copy = await copyEnv(env)
  expect(await command(['restore'], copy)).toMatchObject({ code: 0 })
  expect(await readdir(inRepository(copy.STITHY_DATA_DIR, ''))).toContain('config')
  expect(await readFile(inRepository(copy.STITHY_DATA_DIR, 'packed-refs'), 'utf8')).toMatch(
    /^# [^\n]+\n[0-9a-f]{40} refs\/heads\/master\n$/,
  )

  // As earlier versions, or another program, have made it.
  const others = ['config~', 'packed-refs.new', 'packed-refs', '../../escaped', 'objects/../../escaped', 'hooks/update']
  await rewriteBackup(store, async (entry, { read, store }) => {
    if (entry.is === 'repository') {
      const lines = (await read(entry.refs)).toString()
      return [{ ...entry, refs: await store(`${lines}${lines.replace('master', 'master~')}lines\n`) }]
    }
    if (entry.is !== 'file' || entry.path !== 'config') return [entry]
    const at = await store('other')
    const config = '[filter "lfs"]\n\tsmudge = a-program\n'
    return [
      ...others.map((path) => ({ is: 'file' as const, path, size: 5, at })),
      { ...entry, size: config.length, at: await store(config) },
    ]
  })
  // What is left out is no damage, of which later runs have to tell again until the backup is removed.
  const found = await verify(env)
  expect(found).toMatchObject({ code: 0, out: expect.stringContaining(', 0 problems.') })
  const other = await copyEnv(env)
  const restore = await command(['restore'], other)
  expect(restore.code).toBe(0)
  for (const path of others) {
    expect(found.err).toContain(`"${path}" is left out`)
    expect(restore.err).toContain(`"${path}" is left out`)
  }
  for (const name of ['refs/heads/master~', 'lines']) expect(restore.err).toContain(`"${name}" is left out`)
  const names = await readdir(join(other.STITHY_DATA_DIR, 'repositories'), { recursive: true })
  expect(await readFile(inRepository(other.STITHY_DATA_DIR, 'config'), 'utf8')).toMatch(/^\[core\]\n(\t[^\n]+\n){4}$/)
  expect(names.filter((name) => /~|\.new$|escaped|hooks/.test(name))).toEqual([])
})

async function objectsInBlobs(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, 'blobs/sha256'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

test('a blob that is cut after a backup is reported, and the next backups restore what it was', async () => {
  const { env, service, store } = await startInstallation()
  await backUp(env)
  const blob = (await objectsInBlobs(env.STITHY_DATA_DIR)).at(-1)!
  const digest = basename(blob)
  const whole = await readFile(blob)
  await truncate(blob, 3)
  for (let n = 0; n < 2; n++) {
    const { code, err } = await command(['backup'], env)
    expect(err).toContain(`the blob ${digest} is damaged`)
    expect(code).toBe(1)
  }
  await stop(service)
  expect(await verify(env)).toMatchObject({ code: 0 })
  const contentIn = (dataDir: string) => readFile(join(dataDir, blob.slice(env.STITHY_DATA_DIR.length)))
  const copy = await copyEnv(env)
  expect(await command(['restore'], copy)).toMatchObject({ code: 0 })
  expect(await contentIn(copy.STITHY_DATA_DIR)).toEqual(whole)

  // As earlier versions have made it, without a problem.
  await rewriteBackup(store, (entry) =>
    entry.is === 'blob' && entry.digest === digest ? [{ ...entry, size: 3 }] : [entry],
  )
  const other = await copyEnv(env)
  expect(await command(['restore'], other)).toMatchObject({ code: 0 })
  expect(await contentIn(other.STITHY_DATA_DIR)).toEqual(whole)
})

test('a wrong size, a wrong digest and a piece beyond its content are found, also of what several backups share', async () => {
  const { env, service, store } = await startInstallation()
  await backUp(env)
  await backUp(env)
  await stop(service)
  let [file, blob] = ['', '']
  await rewriteBackup(store, (entry) => {
    if (entry.is === 'file' && file === '') {
      file = entry.path
      return [{ ...entry, size: entry.size + 1 }]
    }
    if (entry.is === 'data') {
      const [name, from, length] = entry.at[0]!
      return [{ ...entry, at: [[name, from + 2 ** 30, length]] }]
    }
    if (entry.is === 'blob' && blob === '') {
      blob = entry.digest.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))
      return [{ ...entry, digest: blob }]
    }
    return [entry]
  })
  const { code, out, err } = await verify(env)
  expect(code).toBe(1)
  expect(out).toMatch(/^2 backups verified/)
  expect(err).toMatch(new RegExp(`${file.replace('.', '\\.')} has \\d+ bytes instead of \\d+`))
  expect(err).toContain(`the blob ${blob} has another content`)
  expect(err).toMatch(/secrets\.keys: [0-9a-f]{64} is too short/)
})

/** A disk of 4 MiB; undefined where nothing can be mounted. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-full-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'stithy', folder])
  onTestFinished(async () => {
    spawnSync('umount', ['-l', folder])
    await rm(folder, { recursive: true, force: true })
  })
  return status === 0 ? folder : undefined
}

test('a full disk fails the backup or the restore with one sentence, and nothing else', async ({ skip }) => {
  const disk = await smallDisk()
  if (disk === undefined) return skip('nothing can be mounted here')
  const { env, service } = await startInstallation()
  await backUp(env)
  const filler = Buffer.alloc(5 * 1024 * 1024, 1)
  await writeFile(join(disk, 'filler'), filler).catch(() => {})
  const full = await command(['backup', '--to', join(disk, 'backups')], env)
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining('There is no room for backups') })
  expect(full.err).not.toContain('    at ')
  await rm(join(disk, 'filler'))
  expect(await command(['backup', '--to', join(disk, 'backups')], env)).toMatchObject({ code: 0 })
  expect(await command(['backup', 'verify', '--from', join(disk, 'backups')], env)).toMatchObject({ code: 0 })
  expect(await verify(env)).toMatchObject({ code: 0 })
  await stop(service)
})
