import { codeFence, fencedLines } from '../../../kernel/fences.ts'
import { kindOf, type NumberedType, numberedTypes } from '../noteables/kinds.ts'

/** Maximum references of a sort in one text; further ones are ignored. */
export const maxReferences = 100

/** Replaces code in Markdown (fenced blocks and code spans) by backquotes. */
export function prose(text: string): string {
  const shown = fencedLines(text, codeFence).flatMap(({ line, fenced, opens }) =>
    opens ? ['`'] : fenced ? [] : [line],
  )
  return shown.join('\n').replace(/`[^`\n]*`/g, '` `')
}

/** Characters of user names and of full paths of groups; a dot or dash at the end belongs to the sentence. */
const mention = /(?<![\w@/.-])@(\w(?:[\w./-]*\w)?)/g

export type MentionedName = {
  /** In lower case. */
  readonly name: string
  /** The text begins with the mention. */
  readonly addressed: boolean
}

/** The names of users and groups mentioned with `@` in a text, without duplicates. */
export function mentionedNames(text: string): MentionedName[] {
  const shown = prose(text)
  const address = /^\s*(?:@\w[\w./-]*[\s,:]*(?:and\s+)?)*/.exec(shown)![0].length
  const names = new Map<string, MentionedName>()
  for (const { 1: found, index } of shown.matchAll(mention)) {
    const name = found!.toLowerCase()
    if (names.size < maxReferences && !names.has(name)) names.set(name, { name, addressed: index < address })
  }
  return [...names.values()]
}

/** A noteable that a text names. */
export type NamedNoteable = {
  readonly type: NumberedType
  /**
   * Path of its project or group in lower case, as written. A project without a slash is in the namespace of the text's project. Absent for
   * the text's project or group.
   */
  readonly path?: string
  readonly iid: number
}

/** A path, or none, then the sign of a kind and a number: `!1`, `project!1`, `group/project!1`. */
const signed = (signs: string): RegExp =>
  new RegExp(String.raw`(?<![\w/.&@-])((?:[\w.-]+/)*[\w.-]+)?([${signs}])(\d{1,9})(?!\w)`, 'g')

export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** The same as a URL of the site: `…/group/project/-/merge_requests/1`, `…/groups/group/-/epics/1`. */
const linked = (siteUrl: string, segments: string): RegExp =>
  new RegExp(String.raw`${escaped(siteUrl)}/((?:[\w.-]+/)+)(?:-/)?(${segments})/(\d{1,9})(?!\w)`, 'gi')

const kinds = numberedTypes.map((type) => [type, kindOf(type)] as const)
const bySign = new Map<string, NumberedType>(kinds.map(([type, { sign }]) => [sign, type]))
const bySegment = new Map<string, NumberedType>(kinds.map(([type, { segment }]) => [segment, type]))
const signPattern = signed([...bySign.keys()].join(''))
const segmentNames = [...bySegment.keys()].join('|')

/** Whether a text may name a noteable, as a regular expression of PostgreSQL: saves the search in texts without any. */
export const mayName = `[${[...bySign.keys()].join('')}][0-9]|/(${segmentNames})/[0-9]`

/**
 * The merge requests and other noteables that a text names, outside of code, without duplicates: by sign and number, or by their URLs
 * below `siteUrl`. At most 100.
 */
export function namedNoteables(text: string, siteUrl: string): NamedNoteable[] {
  const shown = prose(text)
  const found = new Map<string, NamedNoteable>()
  const add = (type: NumberedType, path: string | undefined, iid: number): void => {
    const key = `${type} ${path ?? ''} ${iid}`
    if (found.size < maxReferences && !found.has(key)) found.set(key, { type, ...(path && { path }), iid })
  }
  // Pages of groups are below `groups/`.
  const addLinked = (type: NumberedType, path: string, iid: number): void => {
    if (kindOf(type).holder.of === 'project') add(type, path, iid)
    else if (path.startsWith('groups/')) add(type, path.slice('groups/'.length), iid)
  }
  // `-/` is matched as a part of the path as well.
  for (const [, path, segment, number] of shown.matchAll(linked(siteUrl, segmentNames)))
    addLinked(bySegment.get(segment!.toLowerCase())!, path!.toLowerCase().replace(/\/(-\/)?$/, ''), Number(number))
  for (const [, path, sign, number] of shown.matchAll(signPattern))
    add(bySign.get(sign!)!, path?.toLowerCase(), Number(number))
  return [...found.values()]
}

/** Maximum characters of a text with qualified references; a longer one stays as it was. */
const longestQualified = 1_000_000

/**
 * The text with these replacements, or as it was if they would make it too long: with a long path they make it a thousand times as long,
 * which is found out before it is made. Nothing is looked for after that.
 */
function replacedWithin(text: string, pattern: RegExp, replacement: (...match: readonly string[]) => string): string {
  const parts: string[] = []
  let [length, end] = [text.length, 0]
  for (const match of text.matchAll(pattern)) {
    const made = replacement(...match)
    length += made.length - match[0].length
    if (length > longestQualified) return text
    parts.push(text.slice(end, match.index), made)
    end = match.index + match[0].length
  }
  return parts.join('') + text.slice(end)
}

/** Code in Markdown: a fenced block, or a code span. */
const code = String.raw`^ {0,3}(?<fence>${'`{3,}'}|~{3,})[^]*?(?:^ {0,3}\k<fence>[${'`'}~]*[ \t]*$|$(?![^]))|${'`'}[^${'`'}\n]*${'`'}`
/** Without the sign of snippets, which in most texts stands before an amount of money. */
const qualifiedSigns = kinds.filter(([, { number }]) => number === 'iid').map(([, { sign }]) => sign)
/** A group is named by its full path. */
const groupSigns: ReadonlySet<string> = new Set(
  kinds.filter(([, { holder }]) => holder.of === 'group').map(([, { sign }]) => sign),
)
const signedOutsideCode = new RegExp(`${code}|${signed(qualifiedSigns.join('')).source}`, 'gm')

/**
 * The text with references to noteables as they are read from another project: with the full path of the project `fullPath`, where the
 * text is now. References in code stay.
 */
export function qualifyReferences(text: string, fullPath: string): string {
  const parent = fullPath.slice(0, fullPath.lastIndexOf('/'))
  return replacedWithin(text, signedOutsideCode, (found, _fence, path, sign, iid) => {
    if (sign === undefined || path?.includes('/')) return found!
    if (groupSigns.has(sign)) return path === undefined ? `${parent}${sign}${iid}` : found!
    return `${path === undefined ? fullPath : `${parent}/${path}`}${sign}${iid}`
  })
}

/** The text with links to uploads of the project `fullPath` as they are read outside of it: the uploads stay there. */
export const qualifyUploads = (text: string, fullPath: string): string =>
  replacedWithin(text, /\]\(\/uploads\//g, () => `](/${fullPath}/uploads/`)
