import type { Oid } from '../../../git/format/oid.ts'
import type { PushRuleValues } from './queries.ts'

/** Why a push rule refuses a push. */
export type Offence = {
  /** The message that clients expect. */
  readonly text: string
  readonly rule: keyof PushRuleValues
  /** The first commit that violates the rule. */
  readonly commit?: Oid
  readonly path?: string
}

/** Lines for the terminal of the user who pushes. Compat: clients look for the mark in front of the message. */
export const linesOfOffence = ({ text, rule, commit, path }: Offence): string[] => [
  `GL-HOOK-ERR: ${text}`,
  [`Push rule: ${rule}`, ...(commit ? [`commit: ${commit}`] : []), ...(path ? [`file: ${path}`] : [])].join(', '),
]
