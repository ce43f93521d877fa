import { double, type RowOf, text } from '../../../db/row.ts'
import { PathAttributes } from '../../../git/format/attributes.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { listSizedFiles, type SizedFile } from '../../../git/objects/sized-files.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { isTooLarge } from '../../../kernel/failure.ts'
import { Turns } from '../../../kernel/turns.ts'
import { Linguist, LinguistEnded } from './linguist.ts'

export const shareRow = {
  name: text,
  share: double,
}
export type Share = RowOf<typeof shareRow>

/** Maximum files that are classified, the largest first: each takes up to a millisecond, and small ones hardly count. */
const maxListed = 100_000
const maxNamed = 20_000
/** Maximum files whose content is read because their names are ambiguous, largest first, and the bytes of each. */
const maxRead = 1000
const maxReadBytes = 512 * 1024
const maxReadCharacters = 16 * 1024
const maxAttributesBytes = 256 * 1024
const timeoutMs = 2 * 60_000
const shown = 5

export type Counted = {
  readonly shares: readonly Share[]
  /** False if the files took too long: shares are of those that were classified by then. */
  readonly isComplete: boolean
}

/**
 * The five languages of a commit with the largest shares of its bytes, in percent. Vendored, generated, documentation
 * and binary files, data and prose do not count, unless `linguist-*` attributes in the root say otherwise.
 */
export async function languageShares(repo: Repository, commit: Oid): Promise<Counted> {
  const files = (await listSizedFiles(repo, commit, maxListed))
    // Names of properties that every object has would confuse linguist's lookup tables.
    .filter(({ path, sizeBytes }) => sizeBytes > 0 && !(path in {}))
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, maxNamed)
  if (files.length === 0) return { shares: [], isComplete: true }
  await using linguist = new Linguist({ timeoutMs })
  const attributes = await rootAttributes(repo, commit)
  const found = new Map<SizedFile, string>()
  let isComplete = true
  await findLanguages(repo, files, attributes, linguist, found).catch((error: unknown) => {
    if (!(error instanceof LinguistEnded)) throw error
    isComplete = false
  })
  const bytes = new Map<string, number>()
  for (const [file, language] of found) {
    const detectable = attributes.valueOf(file.path, 'linguist-detectable')
    const counts = detectable === undefined ? linguist.isCounted(language) : isOn(detectable)
    if (counts) bytes.set(language, (bytes.get(language) ?? 0) + file.sizeBytes)
  }
  return { shares: sharesOf(bytes), isComplete }
}

/** Rounded to two decimals. */
function sharesOf(bytes: ReadonlyMap<string, number>): Share[] {
  const total = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  return [...bytes]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, shown)
    .map(([name, size]) => ({ name, share: Math.round((size / total) * 10_000) / 100 }))
}

const isOn = (value: string | boolean | undefined): boolean => value === true || value === 'true'
const isOff = (value: string | boolean | undefined): boolean => value === false || value === 'false'

async function rootAttributes(repo: Repository, commit: Oid): Promise<PathAttributes> {
  const entry = await findEntry(repo, commit, '.gitattributes')
  const isReadable = entry?.mode.startsWith('100') && (entry.sizeBytes ?? 0) <= maxAttributesBytes
  const text = entry && isReadable ? (await readBlob(repo, entry.oid))?.content.toString('utf8') : undefined
  return new PathAttributes(text ?? '', (name) => name.startsWith('linguist-'))
}

const excluding = ['linguist-vendored', 'linguist-generated', 'linguist-documentation']

/** Adds the language of each file that counts and has one to `found`. */
async function findLanguages(
  repo: Repository,
  files: readonly SizedFile[],
  attributes: PathAttributes,
  linguist: Linguist,
  found: Map<SizedFile, string>,
): Promise<void> {
  const saysOf = (file: SizedFile, is: typeof isOn) => excluding.some((name) => is(attributes.valueOf(file.path, name)))
  const attributed: SizedFile[] = []
  const usual: SizedFile[] = []
  const kept: SizedFile[] = []
  const turns = new Turns()
  for (const file of files) {
    if (saysOf(file, isOn)) continue
    if (typeof attributes.valueOf(file.path, 'linguist-language') === 'string') attributed.push(file)
    else (saysOf(file, isOff) ? kept : usual).push(file)
    if (turns.isOver) await turns.next()
  }
  await nameByAttribute(attributed, attributes, linguist, found)
  await nameByContent(repo, await nameByPath(usual, false, linguist, found), linguist, found)
  await nameByContent(repo, await nameByPath(kept, true, linguist, found), linguist, found)
}

/** Resolves languages named by attributes: ignoring case, or by alias. */
async function nameByAttribute(
  files: readonly SizedFile[],
  attributes: PathAttributes,
  linguist: Linguist,
  found: Map<SizedFile, string>,
): Promise<void> {
  const wanted = (file: SizedFile) => String(attributes.valueOf(file.path, 'linguist-language'))
  const names = [...new Set(files.map(wanted))]
  const batch = names.map((name, index) => ({ path: `attributed${index}`, content: `-*- mode: ${name} -*-` }))
  const answers = await linguist.name({ files: batch, keepVendored: true, weighsContent: false })
  const languages = new Map(
    answers.map((answer, index) => {
      const plain = (text: string | null) => text?.toLowerCase().replace(/[\s_-]+/g, '-')
      const candidates = answer ? [answer.language, ...answer.others] : []
      return [names[index]!, candidates.find((each) => plain(each) === plain(names[index]!)) ?? answer?.language]
    }),
  )
  for (const file of files) {
    const language = languages.get(wanted(file))
    if (language) found.set(file, language)
  }
}

/** Classifies by path; returns the files whose content is needed. */
async function nameByPath(
  files: readonly SizedFile[],
  keepVendored: boolean,
  linguist: Linguist,
  found: Map<SizedFile, string>,
): Promise<SizedFile[]> {
  const open: SizedFile[] = []
  const answers = await linguist.name({
    files: files.map(({ path }) => ({ path })),
    keepVendored,
    weighsContent: false,
  })
  for (const [index, answer] of answers.entries()) {
    const file = files[index]!
    if (!answer) continue
    if (answer.language === null || answer.others.length > 0) open.push(file)
    else found.set(file, answer.language)
  }
  return open
}

/** Classifies by the first part of the content. Files that are not read get the usual language of their extension. */
async function nameByContent(
  repo: Repository,
  files: readonly SizedFile[],
  linguist: Linguist,
  found: Map<SizedFile, string>,
): Promise<void> {
  const bySize = files.toSorted((a, b) => b.sizeBytes - a.sizeBytes)
  const read: { file: SizedFile; content: string }[] = []
  const unread: SizedFile[] = []
  for (const file of bySize) {
    if (file.sizeBytes > maxReadBytes || read.length === maxRead) unread.push(file)
    else {
      const content = await beginningOf(repo, file)
      if (content !== undefined) read.push({ file, content })
    }
  }
  // The path was checked before.
  const answers = await linguist.name({
    files: read.map(({ file, content }) => ({ path: file.path, content })),
    keepVendored: true,
    weighsContent: true,
  })
  const usual = new Map<string, string>()
  for (const [index, answer] of answers.entries()) {
    if (!answer?.language) continue
    const { file } = read[index]!
    found.set(file, answer.language)
    // The largest file of an extension decides for the files that are not read.
    const extension = extensionOf(file.path)
    if (extension !== '' && !usual.has(extension)) usual.set(extension, answer.language)
  }
  for (const file of unread) {
    const language = usual.get(extensionOf(file.path))
    if (language !== undefined) found.set(file, language)
  }
}

const extensionOf = (path: string): string => /\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? ''

/** Text from the beginning of a file; `undefined` if it is binary or gone. */
async function beginningOf(repo: Repository, { oid }: SizedFile): Promise<string | undefined> {
  const blob = await readBlob(repo, oid, { maxBytes: maxReadBytes }).catch((error: unknown) => {
    if (isTooLarge(error)) return undefined
    throw error
  })
  if (!blob || blob.content.subarray(0, 8000).includes(0)) return undefined
  return blob.content.toString('utf8', 0, maxReadCharacters)
}
