import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, notNull, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { isLongAgo, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'

/** Transport through which refs were changed. */
export type Transport = 'http' | 'ssh' | 'api' | 'system'

/** The repository whose refs a push changes: that of a project, or a side repository. */
export type PushTarget = { readonly projectId: number } | { readonly sideRepositoryId: number }

export const isOfProject = (target: PushTarget): target is { readonly projectId: number } => 'projectId' in target

const projectOf = (target: PushTarget): number | null => (isOfProject(target) ? target.projectId : null)
const sideRepositoryOf = (target: PushTarget): number | null => (isOfProject(target) ? null : target.sideRepositoryId)

/** A push of the repository of a project. */
export type ProjectPush = NewPush & { readonly projectId: number }

export type NewPush = PushTarget & {
  actorId: number | null
  transport: Transport
  /** The access token that was used; absent if there was none. */
  tokenId?: number | undefined
  /** The valid options as they were sent (`push-options/parse.ts`). */
  options: readonly string[]
  changes: readonly RefChange[]
}

/** Records the intended changes before the refs move. One statement. Returns the id of the push. */
export const insertPush = async (tx: Db, push: NewPush): Promise<number> => (await insert(tx, push, sql``))!

/** As `insertPush`, but records nothing, and returns undefined, if another transaction holds the target, or it is deleted. */
export const insertPushAtOnce = (tx: Db, push: NewPush): Promise<number | undefined> =>
  insert(
    tx,
    push,
    isOfProject(push)
      ? sql`from projects as target where target.id = ${push.projectId} for key share skip locked`
      : sql`from side_repositories as target where target.id = ${push.sideRepositoryId} for key share skip locked`,
  )

const insert = async (tx: Db, push: NewPush, target: Sql): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        with push as (
          insert into pushes (project_id, side_repository_id, actor_id, transport, token_id, options)
          select ${projectOf(push)}::bigint, ${sideRepositoryOf(push)}::bigint, ${push.actorId}::bigint,
            ${push.transport}::text, ${push.tokenId ?? null}::bigint, ${push.options}::text[] ${target}
          returning id
        ),
        changes as (
          insert into ref_changes (push_id, ref, old_oid, new_oid, position)
          select push.id, convert_to(c.name, 'UTF8'), c.old_oid, c.new_oid, c.position
          from push,
            unnest(
              ${push.changes.map(({ name }) => name)}::text[], ${push.changes.map(({ from }) => from)}::text[],
              ${push.changes.map(({ to }) => to)}::text[]
            ) with ordinality as c (name, old_oid, new_oid, position)
        )
        select id
        from push
      `,
    )
  )?.id

/** The default branch of a project as it is now. */
export const defaultBranchOf = async (db: Db, projectId: number): Promise<string | null> =>
  (await db.row({ default_branch: nullable(text) }, sql`select default_branch from projects where id = ${projectId}`))
    ?.default_branch ?? null

/** Whether a pending push deletes a ref. */
export const isBeingDeleted = (db: Db, projectId: number, ref: string): Promise<boolean> =>
  db.exists(sql`
    select
    from pushes p join ref_changes c on c.push_id = p.id
    where p.project_id = ${projectId}
      and p.state = 'intended'
      and c.ref = convert_to(${ref}, 'UTF8')
      and c.new_oid is null
  `)

export const pushRow = {
  id: integer,
  actor_id: nullable(integer),
  transport: oneOf<Transport>('ssh', 'http', 'api', 'system'),
  state: oneOf('intended', 'done', 'dropped'),
  options: listOf(text),
  /** In the order of the push. */
  changes:
    json<
      {
        name: RefChange['name']
        from: RefChange['from']
        to: RefChange['to']
        continued: boolean
        claimed: boolean
      }[]
    >(),
}
export type PushRow = RowOf<typeof pushRow>

/** Condition for the pushes `q` to the same repository. */
const isTo = (target: PushTarget): Sql =>
  isOfProject(target) ? sql`q.project_id = ${target.projectId}` : sql`q.side_repository_id = ${target.sideRepositoryId}`

/**
 * A push to `target` with its changes. `continued`: a later push started at the end of this change, so it did happen, whatever the
 * ref is now. `claimed`: a concurrent push made the same change, and only one of the two moved the ref.
 */
export const findPush = (db: Db, id: number, target: PushTarget): Promise<PushRow | undefined> =>
  db.row(
    pushRow,
    sql`
      select p.id, p.actor_id, p.transport, p.state, p.options,
        coalesce(
          (
            select json_agg(
              json_build_object(
                'name', convert_from(c.ref, 'UTF8'), 'from', c.old_oid, 'to', c.new_oid, 'continued',
                exists (
                  select
                  from ref_changes later join pushes q on q.id = later.push_id
                  where ${isTo(target)}
                    and later.push_id > p.id
                    and later.ref = c.ref
                    and later.old_oid is not distinct from c.new_oid
                ),
                'claimed',
                exists (
                  select
                  from ref_changes same join pushes q on q.id = same.push_id
                  where ${isTo(target)}
                    and q.id <> p.id
                    and q.finished_at >= p.created_at
                    and same.moved
                    and same.ref = c.ref
                    and same.old_oid is not distinct from c.old_oid
                    and same.new_oid is not distinct from c.new_oid
                )
              )
              order by c.position, c.ref
            )
            from ref_changes c
            where c.push_id = p.id
          ),
          '[]'
        ) as changes
      from pushes p
      where p.id = ${id}
    `,
  )

export const donePushRow = {
  project_id: notNull(integer),
  actor_id: nullable(integer),
  token_id: nullable(integer),
  options: listOf(text),
  /** The refs that moved, in the order of the push. */
  changes: json<RefChange[]>(),
}

/** A push to a project whose effects are committed. */
export const findDonePush = (db: Db, id: number): Promise<RowOf<typeof donePushRow> | undefined> =>
  db.row(
    donePushRow,
    sql`
      select p.project_id, p.actor_id, p.token_id, p.options,
        (
          select coalesce(
            json_agg(
              json_build_object('name', convert_from(c.ref, 'UTF8'), 'from', c.old_oid, 'to', c.new_oid)
              order by c.position, c.ref
            ),
            '[]'
          )
          from ref_changes c
          where c.push_id = p.id and c.moved
        ) as changes
      from pushes p
      where p.id = ${id} and p.state = 'done' and p.project_id is not null
    `,
  )

/** The repository of a push that is not settled yet. */
export async function targetOfUnsettled(db: Db, id: number): Promise<PushTarget | undefined> {
  const row = await db.row(
    { project_id: nullable(integer), side_repository_id: nullable(integer) },
    sql`select project_id, side_repository_id from pushes where id = ${id} and state <> 'done'`,
  )
  if (!row) return undefined
  const { project_id: projectId, side_repository_id: sideRepositoryId } = row
  return projectId === null ? { sideRepositoryId: sideRepositoryId! } : { projectId }
}

/** Removes changes from a pending push. */
export const deleteChanges = (db: Db, pushId: number, names: readonly string[]): Promise<number> =>
  db.run(sql`delete from ref_changes where push_id = ${pushId} and convert_from(ref, 'UTF8') = any(${names}::text[])`)

/** Settles a push once: false if another process did. */
export async function settlePush(tx: Tx, id: number, moved: readonly string[]): Promise<boolean> {
  const state = moved.length > 0 ? 'done' : 'dropped'
  return tx.exists(sql`
    with settled as (
      update pushes
      set state = ${state}, finished_at = now()
      where id = ${id} and (state = 'intended' or (state = 'dropped' and ${state} = 'done'))
      returning id
    ),
    marked as (
      update ref_changes c
      set moved = convert_from(c.ref, 'UTF8') = any(${moved}::text[])
      from settled
      where c.push_id = settled.id
    )
    select id
    from settled
  `)
}

/** Repositories with pending pushes, or with pushes that a crash interrupted. */
export const repositoriesBeingPushed = (db: Db): Promise<{ id: number; repository_storage: string; side: boolean }[]> =>
  db.rows(
    { id: integer, repository_storage: text, side: boolean },
    sql`
      select id, repository_storage, false as side
      from projects
      where id in (select project_id from pushes where state = 'intended')
      union all
      select id, repository_storage, true
      from side_repositories
      where id in (select side_repository_id from pushes where state = 'intended')
    `,
  )

/** Pushes after this id that are pending for longer than this, oldest first, at most `size`. */
export async function unsettledPushes(
  db: Db,
  olderThanSeconds: number,
  { after, size }: { readonly after: number; readonly size: number },
): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select id
      from pushes
      where state = 'intended'
        and id > ${after}
        and ${isLongAgo(raw('created_at'), sql`make_interval(secs => ${olderThanSeconds}::double precision)`)}
      order by id
      limit ${literal(size)}
    `,
  )
  return rows.map(({ id }) => id)
}
