import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect } from 'vitest'
import { temporaryFolder, test, World } from '../../test/world.ts'
import { FileMailer } from './file-mailer.ts'

/** A log and the lines it wrote. */
function memoryLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) }
}

test('without a mail server a password reset link is in a private file, not in the log', async () => {
  await using world = await World.start()
  const ann = await world.user()
  const edited = await world.root.put(`/users/${ann.id}`, { reset_password: true })
  expect(edited.status, edited.text).toBe(200)
  await world.runJobs()
  const folder = join(world.config.dataDir, 'mails')
  const written = async () => readdir(folder).catch(() => [] as string[])
  await expect.poll(async () => (await written()).filter((name) => name.endsWith('.txt'))).not.toEqual([])
  const [name] = await written()
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, name!))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(folder, name!), 'utf8')).toMatch(
    new RegExp(`^To: .*\nSubject: .*\n\n[^]*${world.origin}/`),
  )
})

test('the log names the file of a mail and nothing of its text', async () => {
  await using folder = await temporaryFolder()
  const { log, lines } = memoryLog()
  const mailer = new FileMailer(join(folder.path, 'mails'), log)
  await mailer.send({ to: 'ann@example.com', subject: 'Reset', body: 'https://x.example/secret' }, 7)
  expect(lines.join()).toContain('000000000007.txt')
  expect(lines.join()).not.toMatch(/secret|Reset|ann@/)
})

test('a mail sent twice is one file, without line breaks in its headers', async () => {
  await using folder = await temporaryFolder()
  const mailer = new FileMailer(folder.path, memoryLog().log)
  for (const body of ['first', 'second'])
    await mailer.send({ to: 'ann@example.com', subject: 'A\nTo: eve@example.com', body }, 1)
  expect(await readdir(folder.path)).toEqual(['000000000001.txt'])
  expect(await readFile(join(folder.path, '000000000001.txt'), 'utf8')).toBe(
    'To: ann@example.com\nSubject: A To: eve@example.com\n\nsecond',
  )
})

test('the oldest mail files are removed above the maximum', async () => {
  await using folder = await temporaryFolder()
  const mailer = new FileMailer(folder.path, memoryLog().log, { maxFiles: 2 })
  for (const id of [9, 10, 11]) await mailer.send({ to: 'ann@example.com', subject: 's', body: 'b' }, id)
  expect(await readdir(folder.path)).toEqual(['000000000010.txt', '000000000011.txt'])
})

test('there are never more mail files than the maximum', async () => {
  await using folder = await temporaryFolder()
  const first = new FileMailer(folder.path, memoryLog().log, { maxFiles: 40 })
  const restarted = new FileMailer(folder.path, memoryLog().log, { maxFiles: 40 })
  const numbers: number[] = []
  for (let id = 1; id <= 100; id += 1) {
    await (id <= 30 ? first : restarted).send({ to: 'ann@example.com', subject: 's', body: 'b' }, id)
    numbers.push((await readdir(folder.path)).length)
  }
  expect(Math.max(...numbers)).toBe(40)
  expect(Math.min(...numbers.slice(40))).toBeGreaterThanOrEqual(37)
  expect(await readdir(folder.path)).toContain('000000000100.txt')
})
