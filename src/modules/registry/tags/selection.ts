import { compileExpression, type Expression } from '../../../kernel/expression.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { Turns } from '../../../kernel/turns.ts'
import { parseDuration } from './older-than.ts'
import type { Candidate } from './queries.ts'

/** Which tags a bulk deletion removes. */
export type Selection = {
  /** Regular expression for whole names of tags to delete. */
  readonly delete: string
  /** Regular expression for whole names of tags that stay. */
  readonly keep?: string | null | undefined
  /** Number of newest matching tags that stay. */
  readonly keepN?: number | null | undefined
  /** Tags of images built later than this duration ago stay. */
  readonly olderThan?: string | null | undefined
}

/** Longest regular expression, in characters. */
const maxLength = 255

/** A regular expression for whole names; undefined if it is invalid. */
function compile(pattern: string): Expression | undefined {
  if (pattern.length > maxLength) return undefined
  try {
    return compileExpression(pattern, { whole: true })
  } catch {
    return undefined
  }
}

const invalidPattern = 'is an invalid regexp'

/** Throws `invalid` for regular expressions that cannot be used. */
export function requirePatterns(patterns: Readonly<Record<string, string | null | undefined>>): void {
  const invalid = Object.entries(patterns).filter(([, pattern]) => pattern != null && !compile(pattern))
  if (invalid.length > 0) throw invalidFields(Object.fromEntries(invalid.map(([field]) => [field, [invalidPattern]])))
}

/**
 * The tags to delete, from those of a repository without `latest`, the newest image first. A tag stays if a tag that stays names the
 * same manifest. Source: supplement to the API documents, "Deletion".
 */
export async function selectTags(
  tags: readonly Candidate[],
  selection: Selection,
  now: Date,
  latest?: string,
): Promise<string[]> {
  const isDeleted = compile(selection.delete)
  const isKept = selection.keep == null ? undefined : compile(selection.keep)
  if (!isDeleted || (selection.keep != null && !isKept)) return []
  let chosen: Candidate[] = []
  const turns = new Turns()
  for (const tag of tags) {
    if (isDeleted(tag.name) && !isKept?.(tag.name)) chosen.push(tag)
    if (turns.isOver) await turns.next()
  }
  if (selection.keepN != null) chosen = chosen.slice(Math.max(0, selection.keepN))
  if (selection.olderThan != null) {
    const age = parseDuration(selection.olderThan)
    if (age === undefined) return []
    const before = now.getTime() - age
    chosen = chosen.filter(({ image_created_at: at }) => at !== null && new Date(at).getTime() < before)
  }
  const names = new Set(chosen.map(({ name }) => name))
  const staying = new Set(tags.filter(({ name }) => !names.has(name)).map(({ digest }) => digest as string))
  if (latest !== undefined) staying.add(latest)
  return chosen.filter(({ digest }) => !staying.has(digest)).map(({ name }) => name)
}
