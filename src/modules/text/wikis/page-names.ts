import { isSafePath } from '../../../git/format/safe-path.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { blank } from '../../../kernel/violations.ts'

/** Formats in which the API writes pages. */
export const writableFormats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const
export type WritableFormat = (typeof writableFormats)[number]

const extensionOf: Readonly<Record<WritableFormat, string>> = {
  markdown: 'md',
  rdoc: 'rdoc',
  asciidoc: 'asciidoc',
  org: 'org',
}

/** Formats by the extensions of pages, which may also be pushed. Of two files of one name, the earlier format is the page. */
const formats: Readonly<Record<string, string>> = {
  md: 'markdown',
  markdown: 'markdown',
  mkd: 'markdown',
  mkdn: 'markdown',
  mdown: 'markdown',
  rdoc: 'rdoc',
  asciidoc: 'asciidoc',
  adoc: 'asciidoc',
  asc: 'asciidoc',
  org: 'org',
  rst: 'rest',
  textile: 'textile',
  mediawiki: 'mediawiki',
  wiki: 'mediawiki',
  creole: 'creole',
  pod: 'pod',
  txt: 'plaintext',
}

/** All formats of records. */
export const allFormats: readonly string[] = [...new Set(Object.values(formats))]

const ranks = new Map(Object.keys(formats).map((extension, rank) => [extension, rank]))

/** A file of a wiki that is a page. */
export type PageName = {
  /** Path of the file. */
  readonly path: string
  /** Path without extension, with hyphens for blanks: names the page in URLs. */
  readonly slug: string
  /** Last part of the slug, with blanks for hyphens. */
  readonly title: string
  readonly format: string
  /** Orders files with the same slug. */
  readonly rank: number
}

const hyphenated = (text: string): string => text.normalize('NFC').replaceAll(' ', '-')

/** Attachments lie in folders of their own, whatever their extension is. */
const isAttachment = (path: string): boolean => /^uploads\/[0-9a-f]{32}\//.test(path)

/** The page that the file at a path is; undefined for other files, such as attachments. */
export function pageAt(path: string): PageName | undefined {
  const [, folder = '', name, extension] = /^(.*\/)?([^/]+)\.([A-Za-z]+)$/s.exec(path) ?? []
  if (name === undefined || extension === undefined || !path.isWellFormed() || isAttachment(path)) return undefined
  const format = Object.hasOwn(formats, extension.toLowerCase()) ? formats[extension.toLowerCase()] : undefined
  if (format === undefined) return undefined
  const [slug, rank] = [hyphenated(folder + name), ranks.get(extension.toLowerCase())!]
  return { path, slug, title: hyphenated(name).replaceAll('-', ' '), format, rank }
}

/** The slug that a caller names: a title is accepted, too. */
export const slugOf = (text: string): string => hyphenated(text)

/** Limits of the parts of a title, in bytes, so that every file system can store the file with its extension. */
const maxTitleBytes = 245
const maxFolderBytes = 255

/** Pages of the web interface of clients. */
const reserved = new Set(['new', 'pages', 'git_access'])

const refused = (message: string) => invalidFields({ title: [message] })

/**
 * The path without extension for a title, which may contain folders: `docs/How to` is `docs/How-to`. A title without folder
 * stays in `folder`; one that begins with a slash begins at the root. Throws if the title cannot be a page.
 */
export function stemOf(title: string, folder = ''): string {
  const squeezed = title
    .normalize('NFC')
    .split('/')
    .map((part) => part.trim().replaceAll(/\s+/g, ' '))
  const isRooted = squeezed.length > 1 && squeezed[0] === ''
  const parts = isRooted ? squeezed.slice(1) : squeezed
  if (parts.join('') === '') throw refused(blank)
  if (parts.some((part) => part === '' || part === '.' || part === '..')) throw refused('is invalid')
  const [name, folders] = [parts.at(-1)!, parts.slice(0, -1)]
  if (Buffer.byteLength(name) > maxTitleBytes)
    throw refused(`exceeds the limit of ${maxTitleBytes} bytes for page titles`)
  if (folders.some((part) => Buffer.byteLength(part) > maxFolderBytes))
    throw refused(`exceeds the limit of ${maxFolderBytes} bytes for directory names`)
  const inFolder = folders.length === 0 && !isRooted && folder !== '' ? `${folder}/` : ''
  const stem = inFolder + hyphenated(parts.join('/'))
  // Control characters are refused, because they make a title that no one can type.
  if (!isSafePath(stem) || /\p{Cc}/u.test(stem)) throw refused('is invalid')
  if (reserved.has(stem) || isAttachment(stem)) throw refused('is reserved')
  return stem
}

/** The folder of a path; `''` is the root. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The file of a page. Throws if its path is too long. */
export function fileOf(stem: string, format: WritableFormat): string {
  const path = `${stem}.${extensionOf[format]}`
  if (!isSafePath(path)) throw refused('is invalid')
  return path
}

/** Whether the API can write this format; pages in others can only be pushed. */
export const isWritable = (format: string): format is WritableFormat =>
  (writableFormats as readonly string[]).includes(format)
