import { branchRef } from '../../../git/format/ref-name.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { blank, violationsOf } from '../../../kernel/violations.ts'
import { textViolations } from '../../discussion/index.ts'

/** Text fields of a merge request. */
type Written = {
  readonly title?: string
  readonly description?: string | null
  readonly source_branch?: string
  readonly target_branch?: string
}

const branchViolations = (name: string | undefined): string[] =>
  name === undefined ? [] : name === '' ? [blank] : branchRef(name) ? [] : ['is invalid']

/** Reports all violations of the given fields. */
export function requireRules(written: Written): void {
  const violations = violationsOf({
    ...textViolations(written),
    source_branch: branchViolations(written.source_branch),
    target_branch: branchViolations(written.target_branch),
  })
  if (violations) throw invalidFields(violations)
}
