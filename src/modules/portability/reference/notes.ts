import { isPosition } from '../../discussion/index.ts'
import type { Converter } from './converter.ts'
import { hexOf, isObject, listIn, type Nested, oneIn, pick, scalar, timeOf, timesOf } from './values.ts'

/** Adds an award of a noteable or of a note. */
export async function addAward(to: Converter, kind: string, about: Nested, award: Nested): Promise<void> {
  await to.add(`${kind}_awards`, {
    ...about,
    author: to.authorOf(award['user_id']),
    name: award['name'],
    ...timesOf(award),
  })
}

/** Adds a note with its awards and suggestions. */
export async function addNote(to: Converter, kind: string, noteable: Nested, note: Nested): Promise<void> {
  const system = note['system'] === true
  const discussion = note['discussion_id']
  const position = positionOf(note['original_position'] ?? note['position'])
  const resolved = timeOf(note['resolved_at'])
  const line = await to.add(`${kind}_notes`, {
    ...noteable,
    author: to.authorOf(note['author_id'], oneIn(note, 'author')?.['name']),
    discussion_id:
      typeof discussion === 'string' && /^[0-9a-f]{40}$/.test(discussion)
        ? discussion
        : hexOf(
            JSON.stringify([
              kind,
              noteable,
              scalar(discussion ?? note['id'] ?? note['created_at']),
              scalar(note['note']),
            ]),
          ),
    threaded: !system && (position !== undefined || note['type'] === 'DiscussionNote' || note['type'] === 'DiffNote'),
    system,
    note: note['note'],
    ...(!system && { position }),
    resolved_at: resolved,
    resolved_by: resolved && to.userOf(note['resolved_by_id']),
    ...timesOf(note),
  })
  if (line === undefined) return
  for (const award of listIn(note, 'award_emoji')) await addAward(to, kind, { ...noteable, note: line }, award)
  if (kind === 'merge_request') await addSuggestions(to, line, note, position)
}

/** Suggestions count lines from that of the note, which may have moved since. */
async function addSuggestions(to: Converter, note: number, record: Nested, position: Nested | undefined) {
  const line = position?.['new_line']
  for (const suggestion of listIn(record, 'suggestions')) {
    const moved = positionOf(record['position'])?.['new_line']
    const { lines_above, lines_below, commit_id } = suggestion
    if (typeof line !== 'number') to.leaveOut('merge_request_suggestions')
    else
      await to.add('merge_request_suggestions', {
        note,
        from_line: Math.max(1, line - Number(scalar(lines_above) ?? 0)),
        to_line: line + Number(scalar(lines_below) ?? 0),
        shift: typeof moved === 'number' ? moved - line : 0,
        ...pick(suggestion, 'outdated', 'from_content', 'to_content', 'applied'),
        commit_oid: commit_id,
      })
  }
}

/** A position is JSON within JSON. One that we cannot show is left out, the note stays. */
function positionOf(value: unknown): Nested | undefined {
  let position = value
  if (typeof value === 'string' && value.length <= 10_000)
    try {
      position = JSON.parse(value)
    } catch {
      return undefined
    }
  if (!isObject(position)) return undefined
  const ends = pick(position, 'base_sha', 'start_sha', 'head_sha', 'old_path', 'new_path', 'position_type')
  const shown =
    position['position_type'] === 'image'
      ? { ...ends, ...pick(position, 'width', 'height', 'x', 'y') }
      : { ...ends, old_line: position['old_line'] ?? null, new_line: position['new_line'] ?? null }
  return isPosition(shown) ? shown : undefined
}
