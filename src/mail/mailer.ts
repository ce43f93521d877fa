/** A message to one recipient. */
export type Mail = {
  readonly to: string
  /** Shown as the sender instead of the installation, which stays the envelope sender. Without `address`, only the name is. */
  readonly from?: { readonly name: string; readonly address?: string } | undefined
  readonly subject: string
  /** Plain text. */
  readonly body: string
  /** The same text as HTML. */
  readonly html?: string
}

/** Delivers mails. */
export interface Mailer {
  /** Resolves when the mail is accepted. A retry uses the same `id`, so that the receiver can deduplicate. */
  send(mail: Mail, id: number): Promise<void>
}
