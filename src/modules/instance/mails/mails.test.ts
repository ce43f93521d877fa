import { expect, test } from 'vitest'
import { jobRows } from '../../../../test/jobs.ts'
import { ageMails, queuedMails } from '../../../../test/tables/instance.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { unique, World } from '../../../../test/world.ts'
import { siteAt } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { htmlOf } from './html.ts'
import { deliverMail, purgeStaleMails } from './jobs.ts'
import { sendMail, sendMails } from './service.ts'

const mail = { to: 'ann@example.com', subject: 'Hello', body: 'a secret' }

test('a mail is sent after its transaction has committed, and then deleted', async () => {
  const taken: [Mail, number][] = []
  await using world = await World.start({}, { mailer: { send: async (...each) => void taken.push(each) } })
  const ctx = await world.app.open(null)
  await expect(
    ctx.transaction(async (tx) => {
      await sendMail(tx, mail)
      throw new Error('given up')
    }),
  ).rejects.toThrow('given up')
  await ctx.transaction((tx) => sendMail(tx, mail))
  const [row] = await queuedMails(world)
  // The job names the mail; its text, which may be secret, is in no log.
  const jobs = await jobRows(world)
  expect(jobs.map(({ payload }) => payload)).toEqual([{ mailId: row.id }])
  await world.runJobs()
  await expect.poll(() => taken).toEqual([[{ ...mail, html: '<p>a secret</p>\n' }, row.id]])
  await expect.poll(() => queuedMails(world)).toEqual([])
  await deliverMail.run({ mailId: row.id }, ctx)
  expect(taken).toHaveLength(1)
})

test('a mail server that does not answer leaves slots for other jobs', async () => {
  const answered = Promise.withResolvers<void>()
  let sending = 0
  const send = () => {
    sending++
    return answered.promise
  }
  await using world = await World.start({}, { mailer: { send } })
  const ctx = await world.app.open(null)
  const project = await storedProject(world)
  project.repository.commit({ a: 'a\n' })
  await ctx.transaction((tx) =>
    sendMails(
      tx,
      Array.from({ length: 30 }, () => mail),
    ),
  )
  await world.runJobs()
  try {
    await expect.poll(() => sending).toBe(3)
    const { id } = (await world.root.post(`/projects/${project.id}/fork`, { path: unique('fork') })).json
    const status = async () => (await world.root.get(`/projects/${id}`)).json.import_status
    await expect.poll(status, { timeout: waitMs }).toBe('finished')
    expect(sending).toBe(3)
  } finally {
    answered.resolve()
  }
  await expect.poll(() => queuedMails(world), { timeout: waitMs }).toEqual([])
})

test('mails that together are longer than a value of the database are sent', async () => {
  await using world = await World.start({}, { mailer: { send: async () => {} } })
  const ctx = await world.app.open(null)
  const long = { ...mail, body: 'x'.repeat(10_000_000) }
  await ctx.transaction((tx) =>
    sendMails(
      tx,
      Array.from({ length: 28 }, () => long),
    ),
  )
  const ids = (await queuedMails(world)).map(({ id }) => id)
  expect(ids).toHaveLength(28)
  expect((await jobRows(world)).map(({ payload }) => payload.mailId).toSorted()).toEqual(ids.toSorted())
})

test('thousands of mails are sent, each once', async () => {
  await using world = await World.start({}, { mailer: { send: async () => {} } })
  const ctx = await world.app.open(null)
  await ctx.transaction((tx) =>
    sendMails(
      tx,
      Array.from({ length: 2001 }, (_, index) => ({ ...mail, to: `${index}@example.com` })),
    ),
  )
  const rows = await queuedMails(world)
  expect(rows).toHaveLength(2001)
  const sent = new Set((await jobRows(world)).map(({ payload }) => payload.mailId))
  expect(rows.every(({ id }) => sent.has(id))).toBe(true)
})

test('a mail that the server refuses is retried for a week', async () => {
  await using world = await World.start(
    {},
    {
      mailer: {
        send: async () => {
          throw new Error('no')
        },
      },
    },
  )
  const ctx = await world.app.open(null)
  await ctx.transaction((tx) => sendMail(tx, mail))
  const [{ id }] = await queuedMails(world)
  await expect(deliverMail.run({ mailId: id }, ctx)).rejects.toThrow('no')
  await purgeStaleMails.run({}, ctx)
  expect(await queuedMails(world)).toHaveLength(1)
  await ageMails(world, '8 days')
  await purgeStaleMails.run({}, ctx)
  expect(await queuedMails(world)).toEqual([])
})

test('mails have the header and footer messages of the instance if configured', async () => {
  const bodies: string[] = []
  await using world = await World.start({}, { mailer: { send: async ({ body }) => void bodies.push(body) } })
  const ctx = await world.app.open(null)
  const send = async () => {
    await ctx.transaction((tx) => sendMail(tx, mail))
    const [{ id }] = await queuedMails(world)
    await deliverMail.run({ mailId: id }, ctx)
    return bodies.pop()
  }
  const change = (json: object) => world.root.put('/application/appearance', json)
  await change({ header_message: 'Of the forge.', footer_message: 'In confidence.\nNot for others.' })
  expect(await send()).toBe('a secret')
  await change({ email_header_and_footer_enabled: true })
  expect(await send()).toBe('Of the forge.\n\na secret\n\nIn confidence.\nNot for others.\n')
  await change({ header_message: ' ' })
  expect(await send()).toBe('a secret\n\nIn confidence.\nNot for others.\n')
})

test('the HTML of a mail is its escaped text, with links to the instance only', () => {
  const site = { url: 'https://git.example', apiUrl: 'https://git.example/api/v4', host: 'git.example', sshPort: 22 }
  const text = [
    'Hello <script>alert(1)</script> & "co",',
    'https://git.example/-/users/confirmation?token=a"b\nhttps://git.example.evil/x\nhttps://evil.example/ https://git.example/',
    '--\nSent by us.',
  ].join('\n\n')
  expect(htmlOf(text, site)).toBe(
    `<p>Hello &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot;,</p>
<p><a href="https://git.example/-/users/confirmation?token=a&quot;b">https://git.example/-/users/confirmation?token=a&quot;b</a><br>
https://git.example.evil/x<br>
https://evil.example/ https://git.example/</p>
<p>--<br>
Sent by us.</p>
`,
  )
})

test('lines of code keep their indentation in HTML', () => {
  expect(htmlOf('+  if (a) {\n   b', siteAt('https://git.example', 22))).toBe(
    '<p>+ &nbsp;if (a) {<br>\n&nbsp;&nbsp;&nbsp;b</p>\n',
  )
})
