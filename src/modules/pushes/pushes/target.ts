import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { NewPush } from './queries.ts'

/** A push whose changes have happened. */
export type SettledPush = Pick<NewPush, 'actorId' | 'options' | 'changes'> & { readonly id: number }

/** The repository of a push, locked until the transaction ends. */
export type LockedTarget = {
  readonly repo: Repository
  /** Writes what follows from the push, in the transaction. */
  writeEffects(push: SettledPush): Promise<void>
}

const preferred = ['master', 'main']

/** The first branch of an empty repository. Branches with invalid names do not count. */
export function firstBranchOf(moved: readonly RefChange[]): string | undefined {
  const branches = moved
    .filter(({ to }) => to !== null)
    .flatMap(({ name }) => branchName(name) ?? [])
    .filter((name) => branchRef(name))
  return preferred.find((name) => branches.includes(name)) ?? branches[0]
}
