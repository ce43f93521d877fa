/** A message of plain text to one address. */
export type Mail = { readonly to: string; readonly subject: string; readonly body: string }

/** Whoever takes mails out of our hands. */
export interface Mailer {
  /** Resolves when the mail is accepted. `id` stays the same when it is sent again, so that receivers know the second. */
  send(mail: Mail, id: number): Promise<void>
}
