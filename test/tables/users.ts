import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { add, ago, Computed, type Condition, change, find, now, remove, type Value } from './statements.ts'

type UserState = {
  readonly [column in
    | 'admin'
    | 'avatar'
    | 'confirmed_at'
    | 'created_at'
    | 'current_sign_in_at'
    | 'kind'
    | 'last_activity_on'
    | 'note'
    | 'private_profile'
    | 'projects_limit'
    | 'state']?: Value
}

/** Changes the accounts of one user or of several. */
export const changeUser = (world: World, id: number | readonly number[], values: UserState) =>
  change(world, 'users', { id }, values)

/** Deletes the account itself, without what follows. */
export const deleteUser = (world: World, id: number) => remove(world, 'users', { id })

export const deleteNamespaceOf = (world: World, owner_id: number) => remove(world, 'namespaces', { owner_id })

/** Users who sign in lose their administrator rights. */
export const revokeAllAdministrators = (world: World) => change(world, 'users', { kind: 'human' }, { admin: false })

export const activeAdministrators = (world: World) =>
  find(world, 'users', { admin: true, kind: 'human', state: 'active' }, ['id'])

/** The user who takes over what deleted users leave. */
export const ghosts = (world: World, column: 'id' | 'username') => find(world, 'users', { kind: 'ghost' }, [column])

export const noteOnUser = (world: World, username: string) => find(world, 'users', { username }, ['note'])

/** Tables that refer to users, what a deletion does to their rows, and whether an index finds these. */
export const referencesToUsers = (world: World) =>
  world.rows(`
    select c.conrelid::regclass::text as table, a.attname as column, c.confdeltype as rule,
      exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = a.attnum) as indexed
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'users'::regclass`)

export const confirmEmail = (world: World, condition: { readonly id: number } | { readonly email: string }) =>
  change(world, 'emails', { ...condition } as Condition, { confirmed_at: now })

/** Makes the links in mails to a user older. */
export const ageMailLinks = (world: World, user_id: number, interval: string) =>
  change(world, 'mail_links', { user_id }, { created_at: new Computed(`created_at - interval '${interval}'`) })

export const addCustomAttribute = (
  world: World,
  subject: { readonly user: number } | { readonly group: number } | { readonly project: number },
  key: string,
  value: string,
) => {
  const [[kind, id]] = Object.entries(subject) as [[string, number]]
  return add(world, 'custom_attributes', { [kind === 'group' ? 'namespace_id' : `${kind}_id`]: id, key, value })
}

export const deleteSshKeys = (world: World, user_id: number) => remove(world, 'ssh_keys', { user_id })

export const expireSshKeys = (world: World, user_id: number) =>
  change(world, 'ssh_keys', { user_id }, { expires_at: ago('1 second') })

export const forgetKeyCreator = (world: World, id: number) => change(world, 'ssh_keys', { id }, { creator_id: null })

/** Whether each SSH key of the user was used, as `used`. */
export const usesOfSshKeys = (world: World, user_id: number) =>
  find(world, 'ssh_keys', { user_id }, ['last_used_at is not null as used'])

/** Hits of a rate limit in a period that has just begun. */
export const countHits = (world: World, key: string, hits: number) =>
  add(world, 'rate_counters', { key, hits, ends_at: new Computed(`now() + interval '1 hour'`) })

/** Ends the period of a rate limit, whose counter remains. */
export const endPeriod = (world: World, key: string) =>
  change(world, 'rate_counters', { key }, { ends_at: ago('1 second') })

export const countersOf = (world: World, key: string) => find(world, 'rate_counters', { key }, ['hits'])

/** Deletes the counter of a rate limit. */
export const forgetHits = (world: World, key: string) => remove(world, 'rate_counters', { key })

/** Deletes the row of a user, as the job does that removes a deleted one. */
export const deleteUserRow = (tx: Tx, id: number) => tx.run(sql`delete from users where id = ${id}`)
