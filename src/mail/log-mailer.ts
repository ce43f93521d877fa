import type { Logger } from 'pino'
import type { Mail, Mailer } from './mailer.ts'

/** Writes mails to the log instead of sending them: for development, where there is no mail server. */
export class LogMailer implements Mailer {
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  async send({ to, subject, body }: Mail, id: number): Promise<void> {
    this.#log.info({ mail: id, to, subject, body }, 'a mail, which no mail server is set to take')
  }
}
