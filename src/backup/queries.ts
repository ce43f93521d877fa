import type { FilesHold } from '../db/held-files.ts'
import type { Snapshot } from '../db/snapshot.ts'
import type { RepositoryKind } from './store/inventory.ts'

export type RepositoryRow = {
  readonly kind: RepositoryKind
  readonly id: number
  readonly repository_storage: string
  readonly repository_key: string
  readonly default_branch: string | null
}

/** All repositories in the order of an inventory, without those that are being deleted. */
export const repositoriesIn = (snapshot: Snapshot): Promise<RepositoryRow[]> =>
  snapshot.rows<RepositoryRow>(`
    select 'project' as kind, id, repository_storage, repository_key::text, default_branch
    from projects
    where not deleting
    union all
    select 'side', id, repository_storage, repository_key::text, default_branch
    from side_repositories
    where num_nonnulls(project_id, group_id, snippet_id) = 1
    order by 1, 2`)

export type HeadRow = { readonly project_id: number; readonly iid: number; readonly head_oid: string | null }

/** The heads of the newest versions of all merge requests of these projects. */
export const mergeRequestHeads = (snapshot: Snapshot, projectIds: readonly number[]): Promise<HeadRow[]> =>
  snapshot.rows<HeadRow>(
    `select m.project_id, m.iid, d.head_oid
    from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
    where m.project_id = any($1::bigint[])`,
    [projectIds],
  )

/** A change of a ref in the journal, which has happened or may happen. */
export type ChangeRow = {
  readonly kind: RepositoryKind
  readonly repository_id: number
  readonly push_id: number
  readonly state: 'intended' | 'done'
  readonly ref: string
  readonly old_oid: string | null
  readonly new_oid: string | null
}

/** No transaction that settles a push takes as long. */
const longestSettling = '1 hour'

/** The changes of these repositories that are intended now, or were done about `since` or later. */
export const currentChanges = (
  live: FilesHold,
  since: Date,
  repositories: readonly { readonly kind: RepositoryKind; readonly id: number }[],
): Promise<ChangeRow[]> =>
  live.rows<ChangeRow>(
    `with recent as (
      select 'project' as kind, project_id as repository_id, id, state
      from pushes
      where project_id = any($1::bigint[])
        and (state = 'intended' or finished_at > $3::timestamptz - interval '${longestSettling}')
      union all
      select 'side', side_repository_id, id, state
      from pushes
      where side_repository_id = any($2::bigint[])
        and (state = 'intended' or finished_at > $3::timestamptz - interval '${longestSettling}')
    )
    select r.kind, r.repository_id, r.id as push_id, r.state, convert_from(c.ref, 'UTF8') as ref, c.old_oid, c.new_oid
    from recent r join ref_changes c on c.push_id = r.id
    where r.state in ('intended', 'done') and (r.state = 'intended' or c.moved)
    order by r.id`,
    [
      repositories.flatMap(({ kind, id }) => (kind === 'project' ? [id] : [])),
      repositories.flatMap(({ kind, id }) => (kind === 'side' ? [id] : [])),
      since,
    ],
  )

/** The states of these pushes at the moment of the snapshot, without those that did not exist. */
export const statesOf = async (snapshot: Snapshot, ids: readonly number[]): Promise<Map<number, string>> =>
  new Map(
    (
      await snapshot.rows<{ id: number; state: string }>('select id, state from pushes where id = any($1::bigint[])', [
        ids,
      ])
    ).map(({ id, state }) => [id, state]),
  )

/** What the row of the installation says; undefined before the first start. */
export const installationIn = async (snapshot: Snapshot): Promise<string | undefined> =>
  (await snapshot.rows<{ id: string }>('select id::text from installation'))[0]?.id
