import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder, syncFolder } from '../kernel/durable.ts'
import type { Mail, Mailer } from './mailer.ts'
import { oneLine } from './smtp-mailer.ts'

const fromLine = (from: Mail['from']): string => (from ? `From: ${oneLine(`${from.name} <${from.address}>`)}\n` : '')

/** Maximum number of files; the oldest are removed. */
const maxFiles = 1000

/**
 * Writes each mail to a file instead of sending it, for installations without a mail server. Only the operator may read the
 * files: mails carry links that reset a password. The log names the file and neither subject nor text.
 */
export class FileMailer implements Mailer {
  readonly #folder: string
  readonly #log: Logger
  readonly #maxFiles: number

  constructor(folder: string, log: Logger, limits: { maxFiles: number } = { maxFiles }) {
    this.#folder = folder
    this.#log = log
    this.#maxFiles = limits.maxFiles
  }

  async send({ to, from, subject, body }: Mail, id: number): Promise<void> {
    await makeFolder(this.#folder, 0o700)
    // Fixed width, so that file names sort by mail. The same name if a mail is sent again.
    const file = join(this.#folder, `${String(id).padStart(12, '0')}.txt`)
    const partial = `${file}.partial`
    await rm(partial, { force: true })
    try {
      await using handle = await open(partial, 'wx', 0o600)
      await handle.writeFile(`${fromLine(from)}To: ${oneLine(to)}\nSubject: ${oneLine(subject)}\n\n${body}`)
      await handle.sync()
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    }
    await rename(partial, file)
    await syncFolder(this.#folder)
    this.#log.info({ mail: id, file }, 'wrote a mail to a file, because no mail server is configured')
    await this.#removeOldest()
  }

  async #removeOldest(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.txt')).sort()
    for (const name of names.slice(0, -this.#maxFiles)) await rm(join(this.#folder, name), { force: true })
  }
}
