import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { Protections } from '../protected-refs/protections.ts'
import type { DoorName } from './queries.ts'

/** How refs come to move. */
export type Way = {
  readonly door: DoorName
  /** The changes merge something that was asked for: who may merge need not be allowed to push. */
  readonly merges?: boolean
  /** What is new continues from what was there, as whoever made it knows: nothing can be lost, and nobody need look. */
  readonly continues?: boolean
}

/** What a rule may look at. */
export type PushFacts = {
  readonly ctx: Ctx
  readonly project: ProjectSubject
  readonly protections: Protections
  readonly way: Way
  readonly changes: readonly RefChange[]
  /** Reads what the push brings as well, before git has accepted it, once that is there. */
  objects(): Promise<Repository>
}

/** A rule on pushes: the complaint, or `undefined` when it has none. The first complaint refuses the whole push. */
export type PushRule = (facts: PushFacts) => Promise<string | undefined> | string | undefined

/** A rule that looks at each change by itself. */
export const onEach =
  (complaint: (change: RefChange, facts: PushFacts) => ReturnType<PushRule>): PushRule =>
  async (facts) => {
    for (const change of facts.changes) {
      const text = await complaint(change, facts)
      if (text !== undefined) return text
    }
    return undefined
  }
