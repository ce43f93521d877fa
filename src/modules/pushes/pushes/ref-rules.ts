import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef, isHiddenRef, isLikeCommitId, tagName, tagRef } from '../../../git/format/ref-name.ts'

/** Rules about the refs of a push that hold in every repository: the reason of a refusal. */
export function refViolation(changes: readonly RefChange[], defaultBranch: string | null): string | undefined {
  const names = new Set<string>()
  for (const change of changes) {
    const { name } = change
    if (names.has(name)) return `The push names ${name} more than once.`
    names.add(name)
    const violation = isHiddenRef(name)
      ? `The reference ${name} is not yours to change.`
      : (deletedDefault(change, defaultBranch) ?? unnamable(change))
    if (violation !== undefined) return violation
  }
  return undefined
}

const deletedDefault = ({ name, to }: RefChange, defaultBranch: string | null): string | undefined =>
  to === null && defaultBranch !== null && branchName(name) === defaultBranch
    ? 'The default branch of a project cannot be deleted.'
    : undefined

/** Git accepts ref names in a push that its own commands refuse, such as `-x` and `HEAD`; they are unusable. */
function unnamable({ name, from, to }: RefChange): string | undefined {
  if (from !== null || to === null) return undefined
  const [branch, tag] = [branchName(name), tagName(name)]
  if (branch !== undefined && !branchRef(branch)) return `A branch cannot be called ${branch}.`
  if (tag !== undefined && !tagRef(tag)) return `A tag cannot be called ${tag}.`
  return branch !== undefined && isLikeCommitId(branch)
    ? 'You cannot create a branch with a 40-character hexadecimal branch name.'
    : undefined
}
