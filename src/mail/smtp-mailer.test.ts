import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { startMailServer } from '../../test/mail-server.ts'
import type { Mail } from './mailer.ts'
import { SmtpMailer } from './smtp-mailer.ts'

const sent = async (mail: Mail) => {
  await using server = await startMailServer()
  await new SmtpMailer(server.url, 'Stithy <git@example.com>', 'git.example').send(mail, 7)
  return server.lines
}

test('a mail reaches the server with its sender and a Message-ID that is stable over retries', async () => {
  const lines = await sent({ to: 'ann@example.com', subject: 'Hello', body: 'One\n\nTwo: ☕\n' })
  expect(lines).toEqual(
    expect.arrayContaining([
      'MAIL FROM:<git@example.com>',
      'RCPT TO:<ann@example.com>',
      'From: Stithy <git@example.com>',
      'To: ann@example.com',
      'Subject: Hello',
      'Message-ID: <mail-7@git.example>',
      'Auto-Submitted: auto-generated',
    ]),
  )
})

test('a mail of a user has their address as its sender, and that of the installation as the envelope sender', async () => {
  const from = { name: 'Eve <eve@example.com>\r\nBcc: all@example.com', address: 'eve@example.com' }
  const lines = await sent({ to: 'ann@example.com', from, subject: 'Hello', body: 'x' })
  const headers = lines.slice(0, lines.indexOf(''))
  expect(headers).toEqual(
    expect.arrayContaining([
      'MAIL FROM:<git@example.com>',
      'RCPT TO:<ann@example.com>',
      expect.stringMatching(/^From: "Eve <eve@example.com> Bcc: all@example.com" <eve@example.com>$/),
      'Sender: Stithy <git@example.com>',
    ]),
  )
  expect(headers.filter((line) => /^bcc:/i.test(line))).toEqual([])
})

test('a mail in the name of a user has the address of the installation', async () => {
  const lines = await sent({ to: 'ann@example.com', from: { name: 'Eve (@eve)' }, subject: 'Hello', body: 'x' })
  expect(lines).toEqual(expect.arrayContaining(['MAIL FROM:<git@example.com>', 'From: "Eve (@eve)" <git@example.com>']))
  expect(lines.filter((line) => line.startsWith('Sender:'))).toEqual([])
})

const hostile: readonly Mail[] = [
  { to: 'ann@example.com', subject: 'Hi\r\nBcc: eve@example.com', body: 'x' },
  { to: 'ann@example.com', subject: 'Hi\u2028Bcc: eve@example.com\r\n\r\nand a body', body: 'x' },
  { to: 'ann@example.com,eve@example.com', subject: 'Hi', body: 'x' },
  { to: 'ann@example.com\r\nBcc: eve@example.com', subject: 'Hi', body: 'x' },
  { to: 'ann@example.com>\r\nRCPT TO:<eve@example.com', subject: 'Hi', body: 'x' },
  {
    to: 'ann@example.com',
    subject: 'Hi',
    body: '\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<eve@example.com>\r\n',
  },
]

test.for([
  ...hostile,
  ...hostile.map((mail): Mail => ({ ...mail, from: { name: mail.subject, address: 'eve@example.com' } })),
  ...hostile.map((mail): Mail => ({ ...mail, from: { name: mail.subject } })),
])('a line break in a mail adds no header and no recipient: %j', async (mail) => {
  const lines = await sent(mail).catch((): string[] => [])
  const commands = lines.slice(
    0,
    lines.findIndex((line) => /^DATA/i.test(line)),
  )
  const recipients = commands.filter((line) => /^RCPT/i.test(line))
  if (mail.to === 'ann@example.com') expect(recipients).toEqual(['RCPT TO:<ann@example.com>'])
  // An invalid address may be refused, or accepted as one.
  expect(recipients.length).toBeLessThanOrEqual(1)
  expect(recipients).not.toContain('RCPT TO:<eve@example.com>')
  const headers = lines.slice(commands.length, lines.indexOf('', commands.length))
  expect(headers.filter((line) => /^bcc:/i.test(line))).toEqual([])
  // Only QUIT follows the end of the message.
  expect(lines.slice(lines.lastIndexOf('.') + 1).filter((line) => !/^QUIT/i.test(line))).toEqual([])
})

test('a mail fails if the server has not accepted it after the longest time, however much it says', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 mail.test\r\n')
    // A response that never ends.
    const timer = setInterval(() => socket.write('250-mail.test\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const mailer = new SmtpMailer(`smtp://127.0.0.1:${port}`, 'git@example.com', 'git.example', { mailMs: 300 })
  const sending = mailer.send({ to: 'ann@example.com', subject: 'Hello', body: 'x' }, 7)
  await expect(sending).rejects.toThrow()
  server.close()
  // The connection is closed.
  await once(server, 'close')
})
