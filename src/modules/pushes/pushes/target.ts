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
