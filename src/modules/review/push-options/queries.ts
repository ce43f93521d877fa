import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { readableMergeRequests, settingDefaults, visibleProjects } from '../../projects/index.ts'
import { mergeRequestStates } from '../merge-requests/states.ts'

export const sourceRow = { prints_links: boolean, forked_from: nullable(integer) }

/** Whether pushes to a project answer with links to merge requests, and the project of which it is a fork. */
export const findSource = (db: Db, projectId: number): Promise<RowOf<typeof sourceRow> | undefined> =>
  db.row(
    sourceRow,
    sql`
      select coalesce(
          (settings ->> 'printing_merge_request_link_enabled')::boolean,
          ${settingDefaults.printing_merge_request_link_enabled}
        ) as prints_links,
        forked_from_project_id as forked_from
      from projects
      where id = ${projectId}
    `,
  )

export const openRow = { source_branch: text, iid: integer, full_path: text }

/** The newest open merge request of each branch of a project, in projects where the caller may read it. */
export const newestOpen = (
  db: Db,
  caller: Caller,
  sourceProjectId: number,
  branches: readonly string[],
): Promise<RowOf<typeof openRow>[]> =>
  db.rows(
    openRow,
    sql`
      select distinct on (m.source_branch) m.source_branch, m.iid, p.full_path
      from merge_requests m join projects p on p.id = m.project_id
      where m.source_project_id = ${sourceProjectId}
        and m.source_branch = any(${branches}::text[])
        and m.state = 'opened'
        and not p.deleting
        and ${visibleProjects(caller)}
        and ${readableMergeRequests(caller)}
      order by m.source_branch, m.id desc
    `,
  )

export const foundRow = {
  iid: integer,
  project_id: integer,
  state: oneOf(...mergeRequestStates),
}
export type FoundRow = RowOf<typeof foundRow>

type Sought = {
  readonly pushId: number
  readonly actorId: number
  readonly sourceProjectId: number
  readonly sourceBranch: string
  readonly targetProjectId: number
  /** Preferred among several. */
  readonly targetBranch: string | undefined
  /** Those into other projects do not count. */
  readonly onlyInTarget: boolean
}

/**
 * The merge request of a branch to which the options of a push apply: an open one, else one that the user has created since the
 * push, by the same options.
 */
export const findForPush = (db: Db, sought: Sought): Promise<FoundRow | undefined> =>
  db.row(
    foundRow,
    sql`
      select m.iid, m.project_id, m.state
      from merge_requests m
      where m.source_project_id = ${sought.sourceProjectId}
        and m.source_branch = ${sought.sourceBranch}
        and (not ${sought.onlyInTarget} or m.project_id = ${sought.targetProjectId})
        and (
          m.state = 'opened'
          or (
            m.author_id = ${sought.actorId}
            and m.created_at >= (select created_at from pushes where id = ${sought.pushId})
          )
        )
      order by m.state = 'opened' desc, m.project_id = ${sought.targetProjectId} desc,
        m.target_branch is not distinct from ${sought.targetBranch ?? null} desc, m.id desc
      limit 1
    `,
  )

/** Ids of the accounts with these usernames, ignoring case. */
export const accountsNamed = (db: Db, usernames: readonly string[]): Promise<{ id: number; username: string }[]> =>
  db.rows(
    { id: integer, username: text },
    sql`
      select id, lower(username) as username
      from users
      where lower(username) = any(select lower(name) from unnest(${usernames}::text[]) as name)
    `,
  )
