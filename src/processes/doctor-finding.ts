/** `failed`: the service does not work. `warning`: it works, with a risk. */
export type Level = 'ok' | 'warning' | 'failed'

/** The result of one check. */
export type Finding = {
  readonly level: Level
  /** What was checked, such as `Git`. */
  readonly subject: string
  /** What was found, without a full stop. */
  readonly text: string
  /** What the operator should do. Absent if nothing. */
  readonly advice?: string
}

/** The findings of one subject, by level. */
export const findings = (subject: string) => ({
  ok: (text: string): Finding => ({ level: 'ok', subject, text }),
  warning: (text: string, advice: string): Finding => ({ level: 'warning', subject, text, advice }),
  failed: (text: string, advice: string): Finding => ({ level: 'failed', subject, text, advice }),
})

const subjectWidth = 14

/** A finding as lines of text: level, subject and text; below them what to do. */
export const linesOf = ({ level, subject, text, advice }: Finding): string[] => [
  `${level.padEnd(8)} ${subject.padEnd(subjectWidth)} ${text}`,
  ...(advice === undefined ? [] : [`${' '.repeat(9)}→ ${advice}`]),
]
