import type { World } from '../../../../test/world.ts'
import { display } from '../../../settings/declared/display.ts'
import { deliverMail } from '../../mails/jobs.ts'
import { insertMail } from '../../mails/queries.ts'
import { showEffects } from './testing.ts'

/** What stands in a mail that goes out. */
async function mailed(world: World): Promise<string> {
  const ctx = await world.app.open(null)
  const mailId = await ctx.transaction((tx) => insertMail(tx, { to: 'a@b.example', subject: 'x', body: 'Hello.\n' }))
  let told = ''
  const send = async ({ body }: { body: string }) => {
    told = body
  }
  await deliverMail.run({ mailId }, { ...ctx, mailer: { send } })
  return told
}

showEffects(display, [
  ['email_additional_text', { email_additional_text: 'Be kind.' }, mailed, 'Hello.\n', 'Hello.\n\nBe kind.\n'],
  [
    'home_page_url',
    { home_page_url: 'https://home.example' },
    async ({ anonymous }) => (await anonymous.get('//')).headers['location'],
    undefined,
    'https://home.example',
  ],
])
