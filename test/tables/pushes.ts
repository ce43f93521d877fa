import type { World } from '../world.ts'
import { add, ago, Computed, change, find, remove } from './statements.ts'

const columns = {
  id: 'id',
  state: 'state',
  transport: 'transport',
  options: 'options',
  actor_id: 'actor_id',
  token_id: 'token_id',
  /** Number of refs in the journal. */
  refs: '(select count(*) from ref_changes c where c.push_id = pushes.id) as refs',
  /** Number of refs that moved. */
  moved: '(select count(*) from ref_changes c where c.push_id = pushes.id and c.moved) as moved',
} as const

type PushColumn = keyof typeof columns

const sqlOf = (names: readonly PushColumn[]) => names.map((name) => columns[name])

/** Pushes to a project in their order. */
export const pushesTo = (world: World, project_id: number, ...names: readonly PushColumn[]) =>
  find(world, 'pushes', { project_id }, sqlOf(names), 'id')

/** Ids of the pushes to a project in a state. */
export const pushesInState = (world: World, project_id: number, state: 'intended' | 'done') =>
  find(world, 'pushes', { project_id, state }, ['id'], 'id')

/** Pushes by their ids. */
export const pushRows = (world: World, id: number | readonly number[], ...names: readonly PushColumn[]) =>
  find(world, 'pushes', { id }, sqlOf(names), 'id')

/** An entry of the journal without refs. */
export const addPush = (world: World, project_id: number) =>
  add(world, 'pushes', { project_id, actor_id: 1, transport: 'http' })

/** Two pushes in the journal that no process completes: one of main, and one of a branch that does not exist. */
export const addInterruptedPushes = (world: World, projectId: number, head: string) =>
  world.rows(
    `with p as (insert into pushes (project_id, actor_id, transport) values ($1, 1, 'http'), ($1, 1, 'http') returning id)
      insert into ref_changes (push_id, ref, old_oid, new_oid)
      select min(id), 'refs/heads/main'::bytea, null, $2 from p
      union all
      select max(id), 'refs/heads/lost'::bytea, null, $2 from p`,
    [projectId, head],
  )

/** As if the process that settles a push had ended before that. */
export const reopenPush = (world: World, id: number, options: readonly string[]) =>
  change(world, 'pushes', { id }, { options, state: 'intended', finished_at: null })

/** As if the push had begun earlier. */
export const agePush = (world: World, id: number, interval: string) =>
  change(world, 'pushes', { id }, { created_at: ago(interval) })

/** Refs that pushes to a project moved, as `ref`, `from` and `to`. */
export const movedRefs = (world: World, projectId: number) =>
  world.rows(
    `select convert_from(c.ref, 'UTF8') as ref, c.old_oid as from, c.new_oid as to
      from ref_changes c join pushes p on p.id = c.push_id
      where p.project_id = $1 and c.moved order by p.id, c.position`,
    [projectId],
  )

/** Refs of one push, as `name` and `moved`. */
export const refsOfPush = (world: World, pushId: number) =>
  find(world, 'ref_changes', { push_id: pushId }, [`convert_from(ref, 'UTF8') as name`, 'moved'], '1')

/** A push with each of its refs. */
export const journalOf = (world: World, pushId: number) =>
  world.rows(
    `select p.transport, convert_from(c.ref, 'UTF8') as name, c.old_oid, c.new_oid
      from pushes p join ref_changes c on c.push_id = p.id where p.id = $1`,
    [pushId],
  )

/** Pushes to a project with each of their refs. */
export const journalOfProject = (world: World, projectId: number) =>
  world.rows(
    `select p.transport, p.actor_id, p.state, convert_from(c.ref, 'UTF8') as ref, c.moved
      from pushes p join ref_changes c on c.push_id = p.id where project_id = $1 order by p.id`,
    [projectId],
  )

/** How many refs of the pushes to a project moved, and how many did not. */
export const countRefs = (world: World, projectId: number) =>
  world.rows(
    `select c.moved, count(*)::int as count from ref_changes c join pushes p on p.id = c.push_id
      where p.project_id = $1 group by 1 order by 1`,
    [projectId],
  )

export const addLargeFile = (world: World, project_id: number, oid: string, size: number) =>
  add(world, 'large_files', { project_id, oid, size })

export const largeFilesOf = (world: World, project_id: number, ...names: readonly ('oid' | 'size')[]) =>
  find(world, 'large_files', { project_id }, names.length === 0 ? ['oid'] : names)

export const isLargeFileOf = async (world: World, project_id: number, oid: string): Promise<boolean> =>
  (await find(world, 'large_files', { project_id, oid }, ['oid'])).length > 0

export const deleteLargeFiles = (world: World, project_id: number) => remove(world, 'large_files', { project_id })

/** The database names a size that the file does not have. */
export const misstateLargeFile = (world: World, oid: string) =>
  change(world, 'large_files', { oid }, { size: new Computed('size + 1') })

export const housekeepingOf = (
  world: World,
  project_id: number,
  ...names: readonly ('pushes' | 'incremental_at' | 'gc_at')[]
) => find(world, 'project_housekeeping', { project_id }, names)

/** All housekeeping was requested this long ago. */
export const ageHousekeeping = (world: World, interval: string) =>
  change(world, 'project_housekeeping', {}, { asked_at: ago(interval) })

/** As if it had been requested by a clock that is ahead. */
export const moveHousekeepingAhead = (world: World, project_id: number) =>
  change(world, 'project_housekeeping', { project_id }, { asked_at: new Computed(`asked_at + interval '9 years'`) })

export const restartIncremental = (world: World, project_id: number) =>
  change(world, 'project_housekeeping', { project_id }, { incremental_at: 0 })

/** The repository was checked this long ago. */
export const ageRepositoryCheck = (world: World, project_id: number, interval: string) =>
  change(world, 'project_housekeeping', { project_id }, { checked_at: ago(interval) })

export const codeOwnerRules = (world: World) =>
  find(world, 'protected_refs', {}, ['code_owner_approval_required as required'])

/** One more user may merge into the protected branches of a project. */
export const allowMerging = (world: World, projectId: number, userId: number) =>
  world.rows(
    `insert into protected_ref_access (protected_ref_id, action, user_id)
      select id, 'merge', $2 from protected_refs where project_id = $1`,
    [projectId, userId],
  )

/** Changes the push rule of a project, as an older release may have stored it. */
export const storePushRule = (world: World, project_id: number, values: { readonly commit_message_regex: string }) =>
  change(world, 'push_rules', { project_id }, values)
