import { noteableKinds } from '../noteables/kinds.ts'
import { escaped, maxReferences, type NamedNoteable, prose } from '../notes/references.ts'

const { sign, segment } = noteableKinds.Issue

/** The first letter may be a capital. */
const word =
  /\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):?[ \t]+/g

const separator = /[ \t]*(?:,[ \t]*(?:and[ \t]+)?|and[ \t]+)/y

/** A key of an external issue tracker: part of a list, but nothing to close here. */
const externalKey = /(?:issues?[ \t]+)?[A-Z][A-Z0-9_]+-\d+(?!\w)/y

/** `#1`, `project#1`, `group/project#1`, or the URL of an issue of the site. */
const reference = (siteUrl: string): RegExp =>
  new RegExp(
    String.raw`(?:issues?[ \t]+)?(?:${escaped(siteUrl)}/((?:[\w.-]+/)+)${segment}/(\d{1,9})|((?:[\w.-]+/)*[\w.-]+)?${sign}(\d{1,9}))(?!\w)`,
    'iy',
  )

/**
 * The issues that a text says it closes, outside of code, without duplicates: `Closes #1`, `fixes: project#1, group/project#2 and
 * <URL>`. At most 100. Source: supplement to the API documents, "Tasks and cross references".
 */
export function closingReferences(text: string, siteUrl: string): NamedNoteable[] {
  const shown = prose(text)
  const [issue, found] = [reference(siteUrl), new Map<string, NamedNoteable>()]
  /** Reads one element at an offset; the offset after it, or undefined. */
  const elementAt = (at: number): number | undefined => {
    issue.lastIndex = externalKey.lastIndex = at
    const match = issue.exec(shown)
    if (!match) return externalKey.test(shown) ? externalKey.lastIndex : undefined
    const [, linked, linkedNumber, path, number] = match
    // `-/` of a URL is matched as a part of the path.
    const named = (linked?.replace(/\/(-\/)?$/, '') ?? path)?.toLowerCase()
    const iid = Number(linkedNumber ?? number)
    if (found.size < maxReferences) found.set(`${named} ${iid}`, { type: 'Issue', ...(named && { path: named }), iid })
    return issue.lastIndex
  }
  const separatorAt = (at: number): number | undefined => {
    separator.lastIndex = at
    return separator.test(shown) ? separator.lastIndex : undefined
  }
  for (const { 0: begin, index } of shown.matchAll(word)) {
    let end = elementAt(index + begin.length)
    while (end !== undefined) {
      const next = separatorAt(end)
      end = next === undefined ? undefined : elementAt(next)
    }
  }
  return [...found.values()]
}
