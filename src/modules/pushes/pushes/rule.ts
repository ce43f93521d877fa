import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { requireReadableRefs } from '../../../git/history/new-commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { Protections } from '../protected-refs/protections.ts'
import type { Offence } from '../push-rules/offence.ts'
import type { EnforcedRule } from '../push-rules/queries.ts'
import type { LargeFilesCheck } from './large-files-check.ts'
import type { Transport } from './queries.ts'

/** How refs are changed. */
export type PushMode = {
  readonly transport: Transport
  /** The changes merge a merge request: users who may merge need not be allowed to push. */
  readonly merges?: boolean
  /** The first commit of a repository, which the service writes: its message and files are not the caller's choice. */
  readonly begins?: boolean
  /** The new commits that the service makes for this change, which it does not sign. Default: none. */
  readonly makes?: 'tips' | 'all'
  /** The new tips descend from the old ones, as the caller guarantees, so a check for lost commits is unnecessary. */
  readonly continues?: boolean
}

/** What a rule can inspect. */
export type PushFacts = {
  readonly ctx: Ctx
  readonly project: ProjectSubject
  readonly protections: Protections
  readonly mode: PushMode
  /** The push rule of the project; absent if it has none, or the plan does not offer push rules. */
  readonly configured: EnforcedRule | undefined
  readonly changes: readonly RefChange[]
  readonly largeFiles: LargeFilesCheck
  /** Repository that includes the new objects, before git accepts them. Resolves once they are stored. */
  objects(): Promise<Repository>
}

/**
 * A rule for pushes: returns an error message, or an offence against the push rule of the project, or `undefined` if it
 * allows the push. The first message refuses the whole push.
 */
export type PushRule = (facts: PushFacts) => Promise<string | Offence | undefined> | string | Offence | undefined

/** A rule that checks each change separately. */
export const onEach =
  (violation: (change: RefChange, facts: PushFacts) => ReturnType<PushRule>): PushRule =>
  async (facts) => {
    for (const change of facts.changes) {
      const text = await violation(change, facts)
      if (text !== undefined) return text
    }
    return undefined
  }

/** A rule for what is new with a push. It refuses only if git can read what is not new. */
export const onNew =
  (rule: PushRule): PushRule =>
  async (facts) => {
    const violation = await rule(facts)
    if (violation !== undefined) await requireReadableRefs(await facts.objects())
    return violation
  }
