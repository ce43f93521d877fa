/** A message to one address. */
export type Mail = {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly body: string
  /** The same for those who read HTML. */
  readonly html?: string
}

/** Whoever takes mails out of our hands. */
export interface Mailer {
  /** Resolves when the mail is accepted. `id` stays the same when it is sent again, so that receivers know the second. */
  send(mail: Mail, id: number): Promise<void>
}
