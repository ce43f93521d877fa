import { visibilities } from '../../../access/levels.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, oneOf, pick, type RowOf, text, textOf } from '../../../db/row.ts'
import { isLongAgo, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { withPlaceOf } from '../../discussion/index.ts'
import { closesWhenMerged } from '../../planning/index.ts'
import { type ProjectSettings, settingDefaults } from '../../projects/index.ts'
import { revokesApprovals } from '../merge-requests/approval-queries.ts'
import { unchecked } from '../merge-requests/merge-status-queries.ts'
import { mergeRequestStates, mergeStatuses } from '../merge-requests/states.ts'

/** A merge in progress: its user and, once the commits exist, the new head of the target branch. */
export type Merging = {
  /** Distinguishes this attempt from others. */
  readonly token: string
  readonly user_id: number
  readonly since: Timestamp
  readonly source_oid: Oid
  readonly squash: boolean
  readonly should_remove_source_branch: boolean | null
  readonly to?: Oid
  readonly merge_commit_oid?: Oid | null
  readonly squash_commit_oid?: Oid | null
}

/** Requested options of a merge; absent ones are those of the merge request. */
export type MergeOptions = {
  readonly merge_commit_message?: string
  readonly squash_commit_message?: string
  readonly should_remove_source_branch?: boolean
  readonly squash?: boolean
}

type Located = { readonly id: number; readonly repository_storage: string; readonly repository_key: string }

/** A merge request with the data needed to merge it, and to update it after pushes. */
export const mergingRow = {
  id: integer,
  iid: integer,
  project_id: integer,
  target_branch: text,
  source_project_id: nullable(integer),
  source_branch: text,
  title: text,
  author_id: integer,
  state: oneOf(...mergeRequestStates),
  merge_status: oneOf(...mergeStatuses),
  merge_status_source_oid: nullable(textOf<Oid>()),
  merge_status_target_oid: nullable(textOf<Oid>()),
  squash: boolean,
  force_remove_source_branch: nullable(boolean),
  auto_merge_user_id: nullable(integer),
  auto_merge_oid: nullable(textOf<Oid>()),
  auto_merge_options: nullable(json<MergeOptions>()),
  rebasing: boolean,
  merging: nullable(json<Merging>()),
  /** The newest version. The transaction that creates the merge request stores the first one. */
  diff_id: notNull(integer),
  /** Of its newest version. */
  head_oid: nullable(textOf<Oid>()),
  start_oid: nullable(textOf<Oid>()),
  commits: integer,
  /** The issues that it closes, of those of which its merge commit may tell: not confidential ones, nor those of other private projects. */
  closing: json<{ readonly iid: number; readonly project_id: number; readonly full_path: string }[]>(),
  target: json<
    Located & {
      readonly full_path: string
      readonly default_branch: string | null
      readonly merge_method: ProjectSettings['merge_method']
      readonly squash_option: ProjectSettings['squash_option']
      readonly merge_commit_template: string | null
      readonly squash_commit_template: string | null
      readonly needs_pipeline: boolean
      readonly needs_resolution: boolean
      readonly resolves_outdated: boolean
    }
  >(),
  /** Null if that project is deleted. */
  source: nullable(json<Located & { readonly default_branch: string | null }>()),
}
export type MergingRow = RowOf<typeof mergingRow>
/** One whose merge has begun. */
export type BegunRow = MergingRow & { readonly merging: Merging }

const {
  merge_method,
  squash_option,
  only_allow_merge_if_pipeline_succeeds: needs_pipeline,
  only_allow_merge_if_all_discussions_are_resolved: needs_resolution,
  resolve_outdated_diff_discussions: resolves_outdated,
} = settingDefaults

const closing = sql`
  (
    select coalesce(
      json_agg(
        json_build_object('iid', i.iid, 'project_id', i.project_id, 'full_path', o.full_path)
        order by i.project_id <> m.project_id, i.id
      ),
      '[]'
    )
    from merge_requests_closing_issues c
      join issues i on i.id = c.issue_id and not i.confidential
      join projects o on o.id = i.project_id
      join projects p on p.id = m.project_id and ${closesWhenMerged}
    where c.merge_request_id = m.id and (o.id = p.id or o.visibility = ${visibilities.public})
  )
`

const select = sql`
  select m.id, m.iid, m.project_id, m.target_branch, m.source_project_id, m.source_branch, m.title, m.author_id,
    m.state, m.merge_status, m.merge_status_source_oid, m.merge_status_target_oid, m.squash,
    m.force_remove_source_branch, m.auto_merge_user_id, m.auto_merge_oid, m.auto_merge_options, m.rebasing, m.merging,
    m.diff_id, d.head_oid, d.start_oid, coalesce(d.commits, 0) as commits, ${closing} as closing,
    json_build_object(
      'id', t.id, 'repository_storage', t.repository_storage, 'repository_key', t.repository_key, 'full_path',
      t.full_path, 'default_branch', t.default_branch, 'merge_method',
      coalesce(t.settings ->> 'merge_method', ${merge_method}::text), 'squash_option',
      coalesce(t.settings ->> 'squash_option', ${squash_option}::text), 'merge_commit_template',
      t.settings ->> 'merge_commit_template', 'squash_commit_template', t.settings ->> 'squash_commit_template',
      'needs_pipeline', coalesce((t.settings ->> 'only_allow_merge_if_pipeline_succeeds')::boolean, ${needs_pipeline}),
      'needs_resolution',
      coalesce((t.settings ->> 'only_allow_merge_if_all_discussions_are_resolved')::boolean, ${needs_resolution}),
      'resolves_outdated', coalesce((t.settings ->> 'resolve_outdated_diff_discussions')::boolean, ${resolves_outdated})
    ) as target,
    case
      when s.id is not null then json_build_object(
        'id', s.id, 'repository_storage', s.repository_storage, 'repository_key', s.repository_key, 'default_branch',
        s.default_branch
      )
    end as source
  from merge_requests m
    join projects t on t.id = m.project_id and not t.deleting
    left join projects s on s.id = m.source_project_id and not s.deleting
    left join merge_request_diffs d on d.id = m.diff_id
`

export const findMerging = (db: Db, id: number): Promise<MergingRow | undefined> =>
  db.row(mergingRow, sql`${select} where m.id = ${id}`)

/** The same, and locks the row until the transaction ends. */
export const lockMerging = (tx: Tx, id: number): Promise<MergingRow | undefined> =>
  tx.row(
    mergingRow,
    sql`${withPlaceOf('MergeRequest', id)} ${select} cross join place where m.id = ${id} for no key update of m`,
  )

/** Merge requests from or into a project that a push may affect: open or locked ones. */
export const openRow = pick(
  mergingRow,
  'id',
  'project_id',
  'target_branch',
  'source_project_id',
  'source_branch',
  'state',
  'head_oid',
  'start_oid',
  'commits',
)
export type OpenRow = RowOf<typeof openRow>

export const openAround = (db: Db, projectId: number): Promise<OpenRow[]> =>
  db.rows(
    openRow,
    sql`
      select m.id, m.project_id, m.target_branch, m.source_project_id, m.source_branch, m.state, d.head_oid,
        d.start_oid, coalesce(d.commits, 0) as commits
      from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
      where m.state in ('opened', 'locked') and (m.project_id = ${projectId} or m.source_project_id = ${projectId})
      order by m.id
    `,
  )

/** Open merge requests from projects that are being deleted. */
export const openFromDeleted = async (db: Db): Promise<number[]> =>
  (
    await db.rows(
      { id: integer },
      sql`
        select m.id
        from projects s join merge_requests m on m.source_project_id = s.id and m.project_id <> s.id
        where s.deleting and m.state in ('opened', 'locked')
        order by m.id
      `,
    )
  ).map(({ id }) => id)

/** Closes it because its source is gone or is outside the fork network. */
export const markClosed = (tx: Tx, id: number, actorId: number | null): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set state = 'closed', closed_at = now(), closed_by_id = ${actorId}, updated_at = now(), merge_status = ${unchecked},
      auto_merge_user_id = null, auto_merge_oid = null, auto_merge_options = null
    where id = ${id}
  `)

/** Marks it as merged by a push: the target branch contains it. */
export const markMergedByHand = (
  tx: Tx,
  id: number,
  { actorId, mergeCommit }: { actorId: number | null; mergeCommit: Oid | undefined },
): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set state = 'merged', merged_at = now(), merged_by_id = ${actorId}, merge_commit_oid = ${mergeCommit ?? null},
      merge_error = null, merge_status = 'can_be_merged', auto_merge_user_id = null, auto_merge_oid = null,
      auto_merge_options = null, updated_at = now()
    where id = ${id}
  `)

/** Begins a merge of a merge request, which the transaction has locked open. */
export const beginMerging = (tx: Tx, id: number, merging: Merging): Promise<unknown> =>
  tx.run(sql`update merge_requests set state = 'locked', merging = ${JSON.stringify(merging)}::jsonb where id = ${id}`)

/** Records the new head of the target branch. False if recovery has abandoned this attempt. */
export const noteMergeCommit = async (
  db: Db,
  id: number,
  token: string,
  commits: Required<Pick<Merging, 'to' | 'merge_commit_oid' | 'squash_commit_oid'>>,
): Promise<boolean> =>
  (await db.run(sql`
    update merge_requests
    set merging = merging || ${JSON.stringify(commits)}::jsonb
    where id = ${id} and state = 'locked' and merging ->> 'token' = ${token}
  `)) > 0

const mergingIs = (id: number, token: string): Sql =>
  sql`id = ${id} and state = 'locked' and merging->>'token' = ${token}`

/** Abandons a merge. False if it has ended already. */
export const endMerging = async (tx: Tx, id: number, token: string, error: string | null): Promise<boolean> =>
  (await tx.run(sql`
    update merge_requests set state = 'opened', merging = null, merge_error = ${error} where ${mergingIs(id, token)}
  `)) > 0

/**
 * Completes a merge whose commits are in the target branch, and returns the user who merged it, if the account still exists.
 * Undefined if it is completed already. Also completes a merge that was abandoned before its branch moved.
 */
export const completeMerging = (
  tx: Tx,
  id: number,
  merging: Merging,
): Promise<{ merged_by_id: number | null } | undefined> =>
  tx.row(
    { merged_by_id: nullable(integer) },
    sql`
      update merge_requests
      set state = 'merged', merging = null, merge_error = null, merge_status = 'can_be_merged', merged_at = now(),
        merged_by_id = (select id from users where id = ${merging.user_id}),
        merge_commit_oid = ${merging.merge_commit_oid ?? null},
        squash_commit_oid = ${merging.squash_commit_oid ?? null}, squash = ${merging.squash},
        should_remove_source_branch = ${merging.should_remove_source_branch}, auto_merge_user_id = null,
        auto_merge_oid = null, auto_merge_options = null, updated_at = now()
      where id = ${id} and state <> 'merged' and coalesce(merging ->> 'token', ${merging.token}) = ${merging.token}
      returning merged_by_id
    `,
  )

/** Merges that have been in progress for this many seconds. */
export const longMerging = async (db: Db, olderThanSeconds: number): Promise<number[]> => {
  const rows = await db.rows(
    { id: integer },
    sql`
      select id
      from merge_requests
      where state = 'locked'
        and ${isLongAgo(raw(`(merging ->> 'since')::timestamptz`), sql`make_interval(secs => ${olderThanSeconds}::double precision)`)}
      order by id
    `,
  )
  return rows.map(({ id }) => id)
}

/** Commits of a version, to find the new ones of the next version. */
export const commitsOfVersion = async (db: Db, diffId: number): Promise<ReadonlySet<Oid>> =>
  new Set(
    (await db.rows({ oid: textOf<Oid>() }, sql`select oid from merge_request_commits where diff_id = ${diffId}`)).map(
      ({ oid }) => oid,
    ),
  )

/** Disables the automatic merge after a new version, and revokes approvals unless the project keeps them. */
export const forgetConsent = (tx: Tx, id: number, title: string): Promise<number> =>
  tx.run(sql`
    with approved as (${revokesApprovals(id)})
    update merge_requests
    set title = ${title}, auto_merge_user_id = null, auto_merge_oid = null, auto_merge_options = null,
      updated_at = now()
    where id = ${id}
  `)

/** Enables an automatic merge, with its user and options. */
export const beginAutoMerge = (
  tx: Tx,
  id: number,
  { userId, oid, options }: { userId: number; oid: Oid; options: MergeOptions },
): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set auto_merge_user_id = ${userId}, auto_merge_oid = ${oid}, auto_merge_options = ${JSON.stringify(options)}::jsonb,
      merge_error = null, updated_at = now()
    where id = ${id}
  `)

export const endAutoMerge = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set auto_merge_user_id = null, auto_merge_oid = null, auto_merge_options = null, updated_at = now()
    where id = ${id}
  `)

/** Disables the automatic merges that a user enabled, and returns their merge requests. */
export const endAutoMergesOf = (tx: Tx, userId: number): Promise<{ id: number; project_id: number }[]> =>
  tx.rows(
    { id: integer, project_id: integer },
    sql`
      update merge_requests
      set auto_merge_user_id = null, auto_merge_oid = null, auto_merge_options = null, updated_at = now()
      where auto_merge_user_id = ${userId} and state = 'opened'
      returning id, project_id
    `,
  )

/** Merge requests that wait for a pipeline of a commit of this project. */
export const awaiting = async (db: Db, projectId: number, sha: Oid): Promise<number[]> => {
  const rows = await db.rows(
    { id: integer },
    sql`
      select id
      from merge_requests
      where auto_merge_user_id is not null
        and auto_merge_oid = ${sha}
        and source_project_id = ${projectId}
        and state = 'opened'
      order by id
    `,
  )
  return rows.map(({ id }) => id)
}

/** False if a rebase is in progress. */
export const beginRebase = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(
    sql`
      update merge_requests
      set rebasing = true, merge_error = null
      where id = ${id} and state = 'opened' and not rebasing
    `,
  )) > 0

/** With an error only if it is still open. */
export const endRebase = (db: Db, id: number, error: string | null): Promise<number> =>
  db.run(sql`
    update merge_requests
    set rebasing = false, merge_error = case when state = 'opened' then ${error}::text end
    where id = ${id} and rebasing
  `)
