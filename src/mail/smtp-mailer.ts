import type { Mail, Mailer } from './mailer.ts'

const timeoutMs = 30_000
/** For a whole mail: each line of a server that says one at times would begin the other timeouts again. In milliseconds. */
const mailMs = 10 * 60_000

/** Removes line breaks: a header is one line, whatever a user's name contains. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** The address of `Name <address>` or of an address alone. */
const addressOf = (sender: string): string => /<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender

/** Sends by SMTP. `url` is `smtp://user:password@host:587` or `smtps://…`; `from` may be `Name <address>`. */
export class SmtpMailer implements Mailer {
  readonly #url: string
  readonly #from: string
  readonly #host: string
  readonly #mailMs: number

  constructor(url: string, from: string, host: string, limits: { mailMs: number } = { mailMs }) {
    this.#url = url
    this.#from = from
    this.#host = host
    this.#mailMs = limits.mailMs
  }

  async send({ to, from, subject, body, html }: Mail, id: number): Promise<void> {
    // Imported with the first mail: only the jobs process sends mails.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({
      url: this.#url,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // Our messages never refer to files or URLs to be loaded.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    await transport.sendMail({
      ...(from
        ? {
            from: { name: oneLine(from.name), address: oneLine(from.address ?? addressOf(this.#from)) },
            ...(from.address !== undefined && { sender: this.#from }),
            envelope: { from: this.#from, to: [{ name: '', address: to }] },
          }
        : { from: this.#from }),
      // As an object: in a string, a comma would separate two recipients.
      to: { name: '', address: to },
      subject: oneLine(subject),
      text: body,
      ...(html !== undefined && { html }),
      messageId: `<mail-${id}@${this.#host}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.timeout(this.#mailMs),
    })
  }
}
