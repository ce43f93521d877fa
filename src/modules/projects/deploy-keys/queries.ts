import type { Actor } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, omit, type RowOf, text, timestamp } from '../../../db/row.ts'
import { empty, raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { sshKeyRow } from '../../accounts/index.ts'
import { projectWhere } from '../../namespaces/index.ts'

/** A deploy key as enabled in a project. */
export const deployKeyRow = {
  ...omit(sshKeyRow, 'user_id'),
  can_push: boolean,
  enabled_at: timestamp,
  /** Belongs to the installation and is available to every project. */
  public: boolean,
}
export type DeployKeyRow = RowOf<typeof deployKeyRow>

const columns = raw(
  'k.id, k.creator_id, k.title, k.key, k.fingerprint, k.fingerprint_sha256, k.expires_at, k.created_at, k.updated_at',
)

const select = sql`
  select ${columns}, k.public, d.can_push, d.updated_at as enabled_at
  from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id
`

/** Deploy keys of a project, oldest first. */
export const deployKeysOf = (projectId: number): List => ({
  type: 'DeployKey',
  select,
  from: raw('from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id'),
  where: [sql`d.project_id = ${projectId}`],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findDeployKey = (db: Db, projectId: number, keyId: number): Promise<DeployKeyRow | undefined> =>
  db.row(deployKeyRow, sql`${select} where d.project_id = ${projectId} and d.deploy_key_id = ${keyId}`)

/** A deploy key that stays enabled in the project until the transaction ends. Its own row is locked later, as when it is disabled. */
export const holdDeployKey = (tx: Tx, projectId: number, keyId: number): Promise<DeployKeyRow | undefined> =>
  tx.row(
    deployKeyRow,
    sql`${select} where d.project_id = ${projectId} and d.deploy_key_id = ${keyId} for no key update of d`,
  )

/** A project in the list of all deploy keys. */
export type WritableProject = {
  id: number
  description: string | null
  name: string
  name_with_namespace: string
  path: string
  path_with_namespace: string
  created_at: Timestamp
}

/** A deploy key with the projects it may push to. */
export const anyDeployKeyRow = { ...omit(sshKeyRow, 'user_id'), projects_with_write_access: json<WritableProject[]>() }
export type AnyDeployKeyRow = RowOf<typeof anyDeployKeyRow>

const anyDeployKey = sql`
  select ${columns},
    coalesce(
      (
        select json_agg(
          json_build_object(
            'id', p.id, 'description', p.description, 'name', p.name, 'name_with_namespace',
            n.full_name || ' / ' || p.name, 'path', p.path, 'path_with_namespace', p.full_path, 'created_at',
            ${wireTime(raw('p.created_at'))}
          )
          order by p.id
        )
        from deploy_key_projects d join projects p on p.id = d.project_id join namespaces n on n.id = p.namespace_id
        where d.deploy_key_id = k.id and d.can_push
      ),
      '[]'
    ) as projects_with_write_access
  from ssh_keys k
`

/** All deploy keys, oldest first; with `isPublic`, only those of the installation. */
export const allDeployKeys = (isPublic: boolean): List => ({
  type: 'DeployKey',
  select: anyDeployKey,
  from: raw('from ssh_keys k'),
  key: raw('k.id'),
  where: [raw('k.user_id is null'), ...(isPublic ? [raw('k.public')] : [])],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findAnyDeployKey = (db: Db | Tx, id: number): Promise<AnyDeployKeyRow | undefined> =>
  db.row(anyDeployKeyRow, sql`${anyDeployKey} where k.id = ${id} and k.user_id is null`)

/** Whether the caller may use a deploy key: it is public, or enabled in a project that they maintain, which `which` limits. */
const maintained = (actor: Actor, which: Sql = empty) =>
  actor.admin
    ? raw('true')
    : sql`
      (
        k.public
        or exists (
          select
          from deploy_key_projects e join projects p on p.id = e.project_id
          where e.deploy_key_id = k.id
            and ${projectWhere(actor, levels.maintainer, raw('p.id'), raw('p.namespace_id'))} ${which}
        )
      )
    `

/** A deploy key that the caller may enable elsewhere, by id. */
export const findMaintainedKey = (db: Db, actor: Actor, id: number): Promise<{ id: number } | undefined> =>
  db.row(
    { id: integer },
    sql`select k.id from ssh_keys k where k.id = ${id} and k.user_id is null and ${maintained(actor)}`,
  )

/** Whether the caller may use a deploy key for another reason than that it is enabled in this project. */
export const isMaintainedElsewhere = (tx: Tx, actor: Actor, id: number, projectId: number): Promise<boolean> =>
  tx.exists(sql`select from ssh_keys k where k.id = ${id} and ${maintained(actor, sql`and p.id <> ${projectId}`)}`)

/** As `findMaintainedKey`, by SHA-256. */
export const findMaintainedKeyBySha256 = (db: Db, actor: Actor, sha256: string): Promise<{ id: number } | undefined> =>
  db.row(
    { id: integer },
    sql`
      select k.id from ssh_keys k where k.fingerprint_sha256 = ${sha256} and k.user_id is null and ${maintained(actor)}
    `,
  )

/** Locks what says that a key is enabled, in a project or wherever it is. Before the key, as when it is disabled. */
export const lockUses = (tx: Tx, keyId: number, projectId?: number): Promise<number> =>
  tx.run(sql`
    select
    from deploy_key_projects
    where deploy_key_id = ${keyId} ${projectId === undefined ? empty : sql`and project_id = ${projectId}`}
    order by id
    for update
  `)

/** Locks the project as what is added to it does. Before its keys, as its deletion, which disables them. */
export const lockProjectOfKeys = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`select from projects where id = ${projectId} for key share`)

/** Enables a key in a project; no change if it is enabled already. `undefined` if the key is gone. */
export const enableKey = (
  db: Db,
  enabled: { projectId: number; keyId: number; canPush: boolean },
): Promise<{ added: boolean; title: string } | undefined> =>
  db.row(
    { added: boolean, title: text },
    sql`
      with key as (select id, title from ssh_keys where id = ${enabled.keyId} for key share)
      insert into deploy_key_projects (project_id, deploy_key_id, can_push)
      select ${enabled.projectId}::bigint, key.id, ${enabled.canPush}::boolean
      from key
      on conflict (project_id, deploy_key_id) do update set can_push = deploy_key_projects.can_push
      returning xmax = 0 as added, (select title from key) as title
    `,
  )

export const setCanPush = (db: Db, projectId: number, keyId: number, canPush: boolean): Promise<number> =>
  db.run(sql`
    update deploy_key_projects
    set can_push = ${canPush}, updated_at = now()
    where project_id = ${projectId} and deploy_key_id = ${keyId} and can_push <> ${canPush}
  `)

/**
 * Disables a key in a project; a trigger deletes the key if that was its last project, unless it is public. `undefined`
 * if it is not enabled there.
 */
export const disableKey = (tx: Tx, projectId: number, keyId: number): Promise<{ title: string } | undefined> =>
  tx.row(
    { title: text },
    sql`
      delete from deploy_key_projects e using ssh_keys k
      where e.project_id = ${projectId} and e.deploy_key_id = ${keyId} and k.id = e.deploy_key_id
      returning k.title
    `,
  )
