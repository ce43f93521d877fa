import { invalid } from '../../../kernel/failure.ts'
import { storable } from '../../../kernel/storable.ts'
import { type AppliedSuggestion, linesIn } from '../../discussion/index.ts'

const firstLine = ({ from_line, shift }: AppliedSuggestion): number => from_line + shift
const lastLine = ({ to_line, shift }: AppliedSuggestion): number => to_line + shift

export const changed = () => invalid("Can't apply as these lines were changed in a more recent version.")

/** Throws unless the suggestions of one file replace different lines. */
export function requireApart(suggestions: readonly AppliedSuggestion[]): void {
  const ordered = suggestions.toSorted((a, b) => firstLine(a) - firstLine(b))
  for (const [index, next] of ordered.slice(1).entries())
    if (firstLine(next) <= lastLine(ordered[index]!))
      throw invalid('Suggestions are not applicable as their lines cannot overlap.')
}

/**
 * The content of a file with the lines of suggestions replaced, which do not overlap. Other bytes stay as they are, whatever their encoding.
 * Throws if the lines are not those that the suggestions replace.
 */
export function applyTo(content: Buffer, suggestions: readonly AppliedSuggestion[]): Buffer {
  // One character for each byte.
  const lines = linesIn(content.toString('latin1'))
  for (const each of suggestions.toSorted((a, b) => firstLine(b) - firstLine(a))) {
    const [from, to] = [firstLine(each) - 1, lastLine(each)]
    const before = Buffer.from(lines.slice(from, to).join(''), 'latin1')
    if (to > lines.length || storable(before.toString('utf8')) !== each.from_content) throw changed()
    lines.splice(from, to - from, Buffer.from(each.to_content).toString('latin1'))
  }
  return Buffer.from(lines.join(''), 'latin1')
}
