import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { nextNumbers, settingDefaults } from '../../projects/index.ts'
import { revokesApprovals } from './approval-queries.ts'
import { endedCheck, unchecked } from './merge-status-queries.ts'

export type NewMergeRequest = {
  readonly projectId: number
  readonly targetBranch: string
  readonly sourceProjectId: number
  readonly sourceBranch: string
  readonly title: string
  readonly description: string | null
  readonly authorId: number
  readonly milestoneId: number | null
  readonly squash: boolean
  readonly allowCollaboration: boolean
  /** The user who allowed it. */
  readonly collaborationUserId: number | null
  readonly forceRemoveSourceBranch: boolean | null
  readonly approvalsBeforeMerge: number | null
}

/**
 * Assigns the next number of the project, which it locks before, as the trigger that copies its visibility would afterwards; undefined if
 * the project is being deleted.
 */
export const insertMergeRequest = (tx: Tx, m: NewMergeRequest): Promise<{ id: number; iid: number } | undefined> =>
  tx.row(
    { id: integer, iid: integer },
    sql`
      with target as (select id from projects where id = ${m.projectId} and not deleting for no key update),
      numbered as (${nextNumbers('merge_requests', raw('select id as project_id from target'))})
      insert into merge_requests (
        iid, project_id, target_branch, source_project_id, source_branch, title, description, author_id,
        milestone_id, squash, allow_collaboration, collaboration_user_id, force_remove_source_branch,
        approvals_before_merge
      )
      select numbered.last, ${m.projectId}, ${m.targetBranch}, ${m.sourceProjectId}, ${m.sourceBranch}, ${m.title},
        ${m.description}, ${m.authorId}, ${m.milestoneId}, ${m.squash}, ${m.allowCollaboration},
        ${m.collaborationUserId}, ${m.forceRemoveSourceBranch}, ${m.approvalsBeforeMerge}
      from numbered
      returning id, iid
    `,
  )

/** Name of the unique index: one open merge request for the same two branches. */
export const onePerBranches = 'merge_requests_branches'

/** The number of the open merge request for the same branches. */
export const findOpenFor = async (
  db: Db,
  m: Pick<NewMergeRequest, 'projectId' | 'targetBranch' | 'sourceBranch'> & { readonly sourceProjectId: number | null },
): Promise<number | undefined> =>
  (
    await db.row(
      { iid: integer },
      sql`
        select iid
        from merge_requests
        where source_project_id = ${m.sourceProjectId}
          and source_branch = ${m.sourceBranch}
          and project_id = ${m.projectId}
          and target_branch = ${m.targetBranch}
          and state in ('opened', 'locked')
      `,
    )
  )?.iid

/** What new merge requests of a project have: whether the merged branch is removed, null if the project leaves that open, and squash. */
export const mergingDefaults = async (
  db: Db,
  projectId: number,
): Promise<{ removes: boolean | null; squash: boolean }> =>
  (await db.row(
    { removes: nullable(boolean), squash: boolean },
    sql`
      select case
          when settings ? 'remove_source_branch_after_merge' then (
            settings ->> 'remove_source_branch_after_merge'
          )::boolean
          else ${settingDefaults.remove_source_branch_after_merge}::boolean
        end as removes,
        coalesce(settings ->> 'squash_option', ${settingDefaults.squash_option}::text) in (
          'always', 'default_on'
        ) as squash
      from projects
      where id = ${projectId}
    `,
  ))!

/** The attributes of a merge request that an edit writes. */
export type MergeRequestValues = {
  readonly title: string
  readonly description: string | null
  readonly targetBranch: string
  readonly milestoneId: number | null
  readonly discussionLocked: boolean | null
  readonly squash: boolean
  readonly forceRemoveSourceBranch: boolean | null
  readonly allowCollaboration: boolean
  readonly collaborationUserId: number | null
}

export const saveValues = (tx: Tx, id: number, v: MergeRequestValues): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set title = ${v.title}, description = ${v.description}, target_branch = ${v.targetBranch},
      milestone_id = ${v.milestoneId}, discussion_locked = ${v.discussionLocked}, squash = ${v.squash},
      force_remove_source_branch = ${v.forceRemoveSourceBranch}, allow_collaboration = ${v.allowCollaboration},
      collaboration_user_id = ${v.collaborationUserId}
    where id = ${id}
  `)

/** Revokes approvals of another head, unless the project keeps them. */
export const revokeApprovals = (tx: Tx, id: number): Promise<number> => tx.run(revokesApprovals(id))

/** Resets the merge status and disables the automatic merge. */
export const forgetMergeability = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set auto_merge_user_id = null, auto_merge_oid = null, auto_merge_options = null, merge_status = ${unchecked}
    where id = ${id}
  `)

export const saveTimeEstimate = (tx: Tx, id: number, seconds: number): Promise<number> =>
  tx.run(sql`update merge_requests set time_estimate = ${seconds}, updated_at = now() where id = ${id}`)

export const closeMergeRequest = (tx: Tx, id: number, userId: number): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set state = 'closed', closed_at = now(), closed_by_id = ${userId}, auto_merge_user_id = null, auto_merge_oid = null,
      auto_merge_options = null, merge_status = ${endedCheck}
    where id = ${id}
  `)

export const reopenMergeRequest = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update merge_requests set state = 'opened', closed_at = null, closed_by_id = null where id = ${id}`)

export const deleteMergeRequest = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from merge_requests where id = ${id}`)
