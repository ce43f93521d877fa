import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef } from '../../../git/format/ref-name.ts'

const preferred = ['master', 'main']

/** The branch that becomes the default branch of an empty repository. Branches with invalid names do not count. */
export function firstBranch(moved: readonly RefChange[]): string | undefined {
  const branches = moved
    .filter(({ to }) => to !== null)
    .flatMap(({ name }) => branchName(name) ?? [])
    .filter((name) => branchRef(name))
  return preferred.find((name) => branches.includes(name)) ?? branches[0]
}
