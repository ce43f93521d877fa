import type { World } from '../../../../../test/world.ts'
import type { Mail } from '../../../../mail/mailer.ts'
import { display } from '../../../../settings/declared/display.ts'
import { deliverMail } from '../../../instance/mails/jobs.ts'
import { insertMail } from '../../../instance/mails/queries.ts'
import { showEffects } from './testing.ts'

/** A mail as it is sent. */
async function mailed(world: World): Promise<Mail> {
  const ctx = await world.app.open(null)
  const mailId = await ctx.transaction((tx) => insertMail(tx, { to: 'a@b.example', subject: 'x', body: 'Hello.\n' }))
  const sent: Mail[] = []
  await deliverMail.run({ mailId }, { ...ctx, mailer: { send: async (mail) => void sent.push(mail) } })
  return sent[0]!
}

showEffects(
  display,
  [
    [
      'email_additional_text',
      { email_additional_text: 'Be kind.' },
      async (world) => (await mailed(world)).body,
      'Hello.\n',
      'Hello.\n\nBe kind.\n',
    ],
    [
      'html_emails_enabled',
      { html_emails_enabled: false },
      async (world) => (await mailed(world)).html,
      '<p>Hello.</p>\n',
      undefined,
    ],
    [
      'home_page_url',
      { home_page_url: 'https://home.example/日本' },
      async ({ anonymous }) => (await anonymous.get('//')).headers['location'],
      undefined,
      'https://home.example/%E6%97%A5%E6%9C%AC',
    ],
  ],
  ['email_author_in_body'],
)
