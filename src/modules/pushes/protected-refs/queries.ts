import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, json, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { containing, raw, type Sql, sql, unexpired, wireTime } from '../../../db/sql.ts'
import { type Deleted, isDeletedBy } from '../../groups/index.ts'
import { composedForCaller } from '../../namespaces/index.ts'

export type RefKind = 'branch' | 'tag'
export type RefAction = 'push' | 'merge' | 'unprotect' | 'create'

/** Recipient of an action: exactly one of the three ids is not null. */
export type Grant = {
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
}

export type AccessRow = Grant & {
  readonly id: number
  readonly action: RefAction
  /** Name of the user or group. */
  readonly holder: string | null
  /** The caller is that user, or a member of that group, which still has access to the project. */
  readonly includes_caller: boolean
}

export const protectedRefRow = {
  id: integer,
  kind: oneOf<RefKind>('tag', 'branch'),
  name: text,
  allow_force_push: boolean,
  code_owner_approval_required: boolean,
  updated_at: timestamp,
  access: json<AccessRow[]>(),
}
export type ProtectedRefRow = RowOf<typeof protectedRefRow>

/** Condition on a group `g`: the project `p` is shared with it, or inside it. */
const hasAccess = sql`
  (
    exists (select from project_group_links l where l.project_id = p.id and l.group_id = g.id and ${unexpired('l')})
    or exists (select from namespaces n where n.id = p.namespace_id and g.id = any(n.traversal_ids))
  )
`

/** The caller is named by the access `a`, or a member of a group `g` that is named and still has access to the project `p`. */
const includesCaller = (caller: Caller): Sql =>
  caller === null
    ? raw('false')
    : sql`
      coalesce(a.user_id = ${caller.id}, false)
      or (
        exists (
          select
          from group_access x
          where x.user_id = ${caller.id} and x.group_id = a.group_id and x.expires_on > current_date
        )
        and ${hasAccess}
      )
    `

const select = (caller: Caller): Sql => sql`
  select r.id, r.kind, r.name, r.allow_force_push, r.code_owner_approval_required, r.updated_at,
    coalesce(
      (
        select json_agg(
          json_build_object(
            'id', a.id, 'action', a.action, 'access_level', a.access_level, 'user_id', a.user_id, 'group_id',
            a.group_id, 'holder', coalesce(u.name, g.name), 'includes_caller', ${includesCaller(caller)}
          )
          order by a.id
        )
        from protected_ref_access a
          left join users u on u.id = a.user_id
          left join namespaces g on g.id = a.group_id
          join projects p on p.id = r.project_id
        where a.protected_ref_id = r.id
      ),
      '[]'
    ) as access
  from protected_refs r
`

const rulesOf = composedForCaller(
  (caller, projectId: number) => sql`
    select coalesce(
      json_agg(
        json_build_object(
          'id', r.id, 'kind', r.kind, 'name', r.name, 'allow_force_push', r.allow_force_push,
          'code_owner_approval_required', r.code_owner_approval_required, 'updated_at',
          ${wireTime(raw('r.updated_at'))}, 'access', r.access
        )
        order by r.id
      ),
      '[]'
    ) as rules
    from (${select(caller)} where r.project_id = ${projectId}) r
  `,
)

/** All rules for branches and tags of a project. One statement, and one row even without rules: no rows would not be cached. */
export const findProtectedRefs = async (
  db: Db,
  projectId: number,
  caller: Caller,
): Promise<readonly ProtectedRefRow[]> => {
  const row = await db.snapshotCache.row(
    { rules: json<readonly ProtectedRefRow[]>() },
    byKey(rulesOf(caller, projectId)),
  )
  return row!.rules
}

/** A rule by its own name, with wildcards as written. */
export const findProtectedRef = (
  db: Db,
  projectId: number,
  kind: RefKind,
  name: string,
  caller: Caller,
): Promise<ProtectedRefRow | undefined> =>
  db.row(
    protectedRefRow,
    sql`${select(caller)} where r.project_id = ${projectId} and r.kind = ${kind} and r.name = ${name}`,
  )

/** The rules of a project, oldest first. */
export const listProtectedRefs = (
  projectId: number,
  kind: RefKind,
  caller: Caller,
  { search }: { search?: string } = {},
): List => ({
  type: kind === 'branch' ? 'ProtectedBranch' : 'ProtectedTag',
  select: select(caller),
  from: raw('from protected_refs r'),
  where: [
    sql`r.project_id = ${projectId}`,
    sql`r.kind = ${kind}`,
    ...(search ? [sql`r.name ilike ${containing(search)}`] : []),
  ],
  order: [{ by: raw('r.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export type NewProtectedRef = {
  readonly projectId: number
  readonly kind: RefKind
  readonly name: string
  readonly allowForcePush?: boolean
  readonly codeOwnerApprovalRequired?: boolean
}

/** `undefined` if a rule of this name exists. */
export const insertProtectedRef = async (tx: Tx, ref: NewProtectedRef): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into protected_refs (project_id, kind, name, allow_force_push, code_owner_approval_required)
        values (
          ${ref.projectId}, ${ref.kind}, ${ref.name}, ${ref.allowForcePush ?? false},
          ${ref.codeOwnerApprovalRequired ?? false}
        )
        on conflict (project_id, kind, name) do nothing
        returning id
      `,
    )
  )?.id

export type RefFlags = { allowForcePush?: boolean | undefined; codeOwnerApprovalRequired?: boolean | undefined }

/** Locks the rule until the transaction ends. False if it is gone. */
export const lockProtectedRef = (tx: Tx, id: number): Promise<boolean> =>
  tx.exists(sql`select from protected_refs where id = ${id} for update`)

/** Updates the given flags and, in any case, `updated_at`. */
export const updateProtectedRef = (tx: Tx, id: number, flags: RefFlags): Promise<number> =>
  tx.run(sql`
    update protected_refs
    set allow_force_push = coalesce(${flags.allowForcePush ?? null}::boolean, allow_force_push),
      code_owner_approval_required = coalesce(
        ${flags.codeOwnerApprovalRequired ?? null}::boolean, code_owner_approval_required
      ),
      updated_at = now()
    where id = ${id}
  `)

/** Flags and grants of a rule, without the ids of the grants. */
export const protectionIn = (tx: Tx, id: number) =>
  tx.row(
    { allow_force_push: boolean, code_owner_approval_required: boolean, grants: json<unknown[]>() },
    sql`
      select r.allow_force_push, r.code_owner_approval_required,
        coalesce(
          (
            select json_agg(
              json_build_array(a.action, a.access_level, a.user_id, a.group_id)
              order by a.action, a.access_level, a.user_id, a.group_id
            )
            from protected_ref_access a
            where a.protected_ref_id = r.id
          ),
          '[]'
        ) as grants
      from protected_refs r
      where r.id = ${id}
    `,
  )

export const deleteProtectedRef = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from protected_refs where id = ${id}`)

/** Grants an action; existing grants stay. */
export const insertGrants = (tx: Tx, refId: number, action: RefAction, grants: readonly Grant[]): Promise<number> =>
  tx.run(sql`
    insert into protected_ref_access (protected_ref_id, action, access_level, user_id, group_id)
    select ${refId}::bigint, ${action}, g.access_level, g.user_id, g.group_id
    from unnest(
      ${grants.map(({ access_level }) => access_level)}::smallint[],
      ${grants.map(({ user_id }) => user_id)}::bigint[], ${grants.map(({ group_id }) => group_id)}::bigint[]
    ) with ordinality as g (access_level, user_id, group_id, place)
    order by g.place
    on conflict do nothing
  `)

/** Removes grants of an action by their row ids, or all. */
export const deleteGrants = (tx: Tx, refId: number, action: RefAction, ids?: readonly number[]): Promise<number> =>
  tx.run(
    ids === undefined
      ? sql`delete from protected_ref_access where protected_ref_id = ${refId} and action = ${action}`
      : sql`
        delete from protected_ref_access
        where protected_ref_id = ${refId} and action = ${action} and id = any(${ids}::bigint[])
      `,
  )

/** The given users and groups that belong to the project: members, groups it is shared with, and groups around it. */
export async function holdersAround(
  db: Db,
  project: { id: number; namespace_id: number },
  userIds: readonly number[],
  groupIds: readonly number[],
): Promise<{ users: ReadonlySet<number>; groups: ReadonlySet<number> }> {
  const rows = await db.rows(
    { kind: oneOf('user', 'group'), id: integer },
    sql`
      select 'user' as kind, m.user_id as id
      from (
        select user_id from group_access where group_id = ${project.namespace_id} and expires_on > current_date
        union select user_id from project_access where project_id = ${project.id} and expires_on > current_date
      ) m
      where m.user_id = any(${userIds}::bigint[])
      union all
      select 'group', g.id
      from namespaces g join projects p on p.id = ${project.id}
      where g.id = any(${groupIds}::bigint[]) and g.kind = 'group' and ${hasAccess}
    `,
  )
  const idsOf = (kind: string) => new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id))
  return { users: idsOf('user'), groups: idsOf('group') }
}

/** The protections of other projects that name an account or group that is deleted. */
export const protectionsNaming = (
  tx: Tx,
  deleted: Deleted,
): Promise<{ project_id: number; kind: RefKind; name: string }[]> =>
  tx.rows(
    { project_id: integer, kind: protectedRefRow.kind, name: text },
    sql`
      select r.project_id, r.kind, r.name
      from protected_refs r join projects p on p.id = r.project_id and not p.deleting
      where r.id in (
        select a.protected_ref_id
        from protected_ref_access a
        where ${isDeletedBy(deleted, raw('a.user_id'), raw('a.group_id'))}
      )
      order by r.id
    `,
  )
