import { isActive, isPassing, type Status } from '../../ci/index.ts'
import type { MergeRequestState, MergeStatus } from './states.ts'
import { isDraft } from './title.ts'

/** Reasons why a merge request does not merge now, by the names that clients know; `mergeable` if there is none. */
export const detailedMergeStatuses = [
  'mergeable',
  'not_open',
  'draft_status',
  'commits_status',
  'conflict',
  'discussions_not_resolved',
  'not_approved',
  'ci_still_running',
  'ci_must_pass',
  'checking',
  'unchecked',
  'need_rebase',
] as const
export type DetailedMergeStatus = (typeof detailedMergeStatuses)[number]

/** What decides whether a merge request merges, regardless of the caller. */
export type MergeFacts = {
  readonly state: MergeRequestState
  readonly title: string
  /** It has commits, and both branches exist. */
  readonly hasCommits: boolean
  /** Result of the check for the current heads of the branches. */
  readonly mergeStatus: MergeStatus
  /** The merge method requires commits of the target branch that the source branch lacks. */
  readonly needsRebase: boolean
  /** Status of the pipeline of the head that must succeed; null without one, `hidden` if the caller may not read it. */
  readonly pipeline: Status | 'hidden' | null
  /** Discussions are unresolved that must be resolved. */
  readonly isUnresolved: boolean
  readonly isApproved: boolean
}

/**
 * Why a merge request does not merge now. The record shows it, and the merge decides by it. What a check of the branches cannot change
 * comes first.
 */
export function detailedMergeStatus(facts: MergeFacts): DetailedMergeStatus {
  const { pipeline, mergeStatus } = facts
  if (facts.state !== 'opened') return 'not_open'
  if (isDraft(facts.title)) return 'draft_status'
  if (!facts.hasCommits) return 'commits_status'
  if (mergeStatus === 'cannot_be_merged') return 'conflict'
  if (facts.isUnresolved) return 'discussions_not_resolved'
  if (!facts.isApproved) return 'not_approved'
  // Does not show whether it has succeeded.
  if (pipeline === 'hidden') return 'ci_must_pass'
  if (pipeline && !isPassing(pipeline)) return isActive(pipeline) ? 'ci_still_running' : 'ci_must_pass'
  if (mergeStatus === 'checking') return 'checking'
  if (mergeStatus !== 'can_be_merged') return 'unchecked'
  return facts.needsRebase ? 'need_rebase' : 'mergeable'
}
