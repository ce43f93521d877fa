import { randomInt } from 'node:crypto'
import { type Config, mailsDir } from '../config.ts'
import { SmtpMailer } from '../mail/smtp-mailer.ts'
import { type Finding, findings } from './doctor-finding.ts'

const mail = findings('Mail')

/** Whether mails can be sent. Sends one if there is a recipient. */
export async function checkMail(config: Config, recipient: string | undefined): Promise<Finding[]> {
  const { smtpUrl, from } = config.mail
  if (smtpUrl === undefined)
    return [
      (recipient === undefined ? mail.warning : mail.failed)(
        `no mail server is set, so mails are written to ${mailsDir(config)}`,
        'Set STITHY_SMTP_URL and STITHY_MAIL_FROM.',
      ),
    ]
  const server = new URL(smtpUrl).host
  if (recipient === undefined) return [mail.ok(`by ${server}; to send a test mail: stithy doctor --mail-to ADDRESS`)]
  // Of the id of the mail, as in those of the service: a port is not allowed there.
  const host = new URL(config.externalUrl).hostname
  try {
    const message = {
      to: recipient,
      subject: 'Test mail of Stithy',
      body: `This mail was sent by stithy doctor of ${config.externalUrl}.\n`,
    }
    await new SmtpMailer(smtpUrl, from, host).send(message, randomInt(2 ** 40))
    return [mail.ok(`${server} accepted a mail to ${recipient}`)]
  } catch (error) {
    return [
      mail.failed(
        `${server} did not accept a mail to ${recipient}: ${(error as Error).message.split('\n')[0]}`,
        'Check STITHY_SMTP_URL (user, password, port; smtps:// for port 465) and STITHY_MAIL_FROM.',
      ),
    ]
  }
}
