import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Unpacked, UnpackedFile } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import type { Converter } from './converter.ts'
import { convertSurroundings } from './noteables.ts'
import { type Nested, pick, scalar, timesOf } from './values.ts'

/** The only file of a snippet, whose text was in its record. Nothing is known of the name. */
export type SnippetFile = { readonly name: string; readonly path: string }

/** What snippets have, by the lines of their records: one file, or an entry of an archive of ours with a repository. */
export type SnippetContents = {
  readonly files: Map<number, SnippetFile>
  readonly bundles: Map<string, UnpackedFile>
}

/** Later releases have the repositories of snippets in bundles with names of such a form. */
const bundleName = /^snippets\/[0-9a-f]{64}\.bundle$/

/** Writes snippets of the reference product as records of ours, with their notes and awards. */
export class SnippetConverter {
  readonly contents: SnippetContents = { files: new Map(), bundles: new Map() }
  readonly #to: Converter
  readonly #unpacked: Unpacked
  readonly #folder: string
  readonly #used = new Set<string>()

  constructor(to: Converter, unpacked: Unpacked, folder: string) {
    this.#to = to
    this.#unpacked = unpacked
    this.#folder = folder
  }

  /** Its files are those of its repository, or else there is one, whose text is in the record. */
  async add(snippet: Nested): Promise<void> {
    const to = this.#to
    const name = bundleOf(snippet)
    const bundle = this.#unpacked.get(name)
    const content = snippet['content']
    if (!bundle && typeof content !== 'string') return to.leaveOut('snippets')
    const line = await to.add('snippets', {
      ...pick(snippet, 'title', 'description'),
      author: to.authorOf(snippet['author_id']),
      visibility: snippet['visibility_level'] ?? 0,
      ...timesOf(snippet),
    })
    if (line === undefined) return
    if (bundle) {
      this.#used.add(name)
      this.contents.bundles.set(entries.snippetEntry(line), bundle)
    } else {
      const path = join(this.#folder, `converted-snippet-${line}`)
      await writeFile(path, String(content), { flag: 'wx', mode: 0o600 })
      this.contents.files.set(line, { name: String(scalar(snippet['file_name']) ?? ''), path })
    }
    await convertSurroundings(to, { kind: 'snippet', line, labelOf: async () => undefined }, snippet)
  }

  /** Counts the repositories that are of no snippet. */
  finish(): void {
    for (const name of this.#unpacked.keys())
      if (bundleName.test(name) && !this.#used.has(name)) this.#to.leaveOut('snippet repositories')
  }
}

/** The name of a bundle is a digest of what the record has. */
function bundleOf(snippet: Nested): string {
  const { created_at, updated_at } = timesOf(snippet)
  const [created, updated] = [created_at, updated_at].map((time) => `${time?.slice(0, 19).replace('T', ' ')} UTC`)
  const { title, description } = snippet
  const text = [title, description].map((each) => (typeof each === 'string' ? each : '')).join('')
  return `snippets/${createHash('sha256').update(`${text}${created}${updated}`).digest('hex')}.bundle`
}
