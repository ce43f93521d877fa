import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { Offence } from './offence.ts'
import type { EnforcedRule } from './queries.ts'

/** Maximum size of a file in bytes; 0 for any. */
export const maxBytesOf = ({ max_file_size }: EnforcedRule): number => max_file_size * 1024 * 1024

/** The offence of a file that is too large; `commit` added it. */
export function offenceOfSize(rule: EnforcedRule, path: string, commit?: Oid): Offence {
  const shown = shownPath(path)
  return {
    text: `File "${shown}" is larger than the allowed size of ${rule.max_file_size} MB`,
    rule: 'max_file_size',
    path: shown,
    ...(commit && { commit }),
  }
}
