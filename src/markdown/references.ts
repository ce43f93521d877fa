import { literalMark } from './literal.ts'
import type { ReferenceKind, ReferenceTarget } from './types.ts'

/** Bounds keep the time linear: no repetition can match the same characters in two ways. */
const path = String.raw`(?:[\w.-]{1,255}/){0,20}[\w.-]{1,255}`
const name = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}_.?&:-]{0,254}[\p{L}\p{N}_])?`
const quoted = String.raw`"(?<title>[^"\n]{1,255})"`
/** A reference does not begin within a word, a path or another reference, nor after an escaped character. */
const begins = String.raw`(?<![\p{L}\p{N}_/.&@#!$~%${literalMark}-])`

/** The beginning and the path are tried once at each place, whatever follows them. */
const reference = new RegExp(
  [
    `${begins}(?:`,
    `(?<path>${path})?(?:`,
    '(?<numberSign>[#!&$])(?<number>\\d{1,9})(?![\\p{L}\\p{N}_])',
    `|(?<nameSign>[~%])(?:${quoted}|(?<name>${name})))`,
    `|(?:(?<commitPath>${path})@)?(?<from>[0-9a-f]{7,64})(?:\\.{2,3}(?<to>[0-9a-f]{7,64}))?(?![\\p{L}\\p{N}_@/-])`,
    '|@(?<username>\\w(?:[\\w./-]{0,254}\\w)?)',
    ')',
  ].join(''),
  'gu',
)

/** Whether a text may contain a reference: saves the search in most. */
const mayRefer = /[#!&$~%@]|[0-9a-f]{7}/

export type ScannedReference = { readonly index: number; readonly written: string; readonly target: ReferenceTarget }

/** The references of a text, in order. */
export function scanReferences(text: string): ScannedReference[] {
  if (!mayRefer.test(text)) return []
  const found: ScannedReference[] = []
  for (const match of text.matchAll(reference))
    found.push({ index: match.index, written: match[0], target: targetOf(match) })
  return found
}

function targetOf(match: RegExpExecArray): ReferenceTarget {
  const { path, numberSign, number, nameSign, title, name, commitPath, from, to, username } = match.groups!
  if (numberSign) return target(numberSign as ReferenceKind, path, number!)
  if (username) return target('@', undefined, username)
  if (from) return to ? target('range', commitPath, `${from}..${to}`) : target('commit', commitPath, from)
  if (name) return target(nameSign as ReferenceKind, path, name)
  return { ...target(nameSign as ReferenceKind, path, title!), quoted: true }
}

const segments: Readonly<Record<string, ReferenceKind>> = {
  issues: '#',
  merge_requests: '!',
  snippets: '$',
  milestones: '%',
  epics: '&',
}
/** Pages of groups are below it. */
const groups = 'groups/'
const ownPath = new RegExp(
  String.raw`^/(?<path>${path})/-/(?:(?<segment>issues|merge_requests|snippets|milestones|epics)/(?<number>\d{1,9})|commit/(?<hash>[0-9a-f]{7,64}))(?:#note_(?<note>\d{1,15}))?$`,
)

/** What a URL of the installation refers to; undefined for other URLs. */
export function referenceByUrl(url: string, siteUrl: string): { target: ReferenceTarget; note?: number } | undefined {
  if (!url.startsWith(`${siteUrl}/`)) return undefined
  const match = ownPath.exec(url.slice(siteUrl.length))
  if (!match) return undefined
  const { path: of, segment, number, hash, note } = match.groups!
  if (segment === 'epics' && !of!.startsWith(groups)) return undefined
  const holder = segment === 'epics' ? of!.slice(groups.length) : of
  const found = hash ? target('commit', of, hash) : target(segments[segment!]!, holder, number!)
  return { target: found, ...(note && { note: Number(note) }) }
}

const target = (kind: ReferenceKind, written: string | undefined, named: string): ReferenceTarget => ({
  kind,
  ...(written !== undefined && { path: written }),
  name: named,
})
