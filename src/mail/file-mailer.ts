import { open, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder, syncFolder } from '../kernel/durable.ts'
import { missingAs } from '../kernel/missing.ts'
import type { Mail, Mailer } from './mailer.ts'
import { oneLine } from './smtp-mailer.ts'

const fromLine = (from: Mail['from']): string =>
  from ? `From: ${oneLine(from.address === undefined ? from.name : `${from.name} <${from.address}>`)}\n` : ''

/** Maximum number of files; the oldest are removed. */
const maxFiles = 1000
/** One of this number is removed at once: the folder is read for it, which takes longer than writing a mail. */
const removedOf = 20

/**
 * Writes each mail to a file instead of sending it, for installations without a mail server. Only the operator may read the
 * files: mails carry links that reset a password. The log names the file and neither subject nor text.
 */
export class FileMailer implements Mailer {
  readonly #folder: string
  readonly #log: Logger
  readonly #maxFiles: number
  /** Mails that may be written before the folder is read again. */
  #room = 0

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
    await removed(partial)
    try {
      await using handle = await open(partial, 'wx', 0o600)
      await handle.writeFile(`${fromLine(from)}To: ${oneLine(to)}\nSubject: ${oneLine(subject)}\n\n${body}`)
      await handle.sync()
    } catch (error) {
      await removed(partial)
      throw error
    }
    await rename(partial, file)
    await syncFolder(this.#folder)
    this.#log.info({ mail: id, file }, 'wrote a mail to a file, because no mail server is configured')
    if (--this.#room < 0) await this.#removeOldest()
  }

  async #removeOldest(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.txt')).sort()
    const excess = names.length - this.#maxFiles
    const removable = excess > 0 ? excess + Math.floor(this.#maxFiles / removedOf) : 0
    for (const name of names.slice(0, removable)) await removed(join(this.#folder, name))
    this.#room = this.#maxFiles - (names.length - removable)
  }
}

const removed = (file: string): Promise<void> => unlink(file).catch(missingAs(undefined))
