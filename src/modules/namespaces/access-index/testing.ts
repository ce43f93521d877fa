import { actorFor } from '../../../../test/contexts.ts'
import { moveEndOfAccess, moveEndOfMemberships, shareProject } from '../../../../test/tables/access.ts'
import { type Client, type TestGroup, type TestProject, World } from '../../../../test/world.ts'
import type { Caller } from '../../../access/actor.ts'
import type { Visibility } from '../../../access/levels.ts'

/** Level of each kind of caller in the project; that of anonymous callers depends on the visibility only. */
export const kinds = {
  'an anonymous caller': 0,
  'a stranger': 0,
  'an external user': 0,
  'an external guest': 10,
  'a guest': 10,
  'a reporter': 20,
  'a developer': 30,
  'a maintainer': 40,
  'an owner of the group': 50,
  'a member of the ancestor group': 30,
  'a member through a share': 20,
  'a member through a share with an ancestor group': 10,
  'a member of others': 0,
  'a former member': 0,
  'a former group member': 0,
  'a member through an expired share': 0,
  'a member with a lower role than above': 40,
  'a member with a lower role for longer': 40,
  'a group member with a lower role for longer': 40,
  'an administrator': 0,
} as const
export type Kind = keyof typeof kinds

export const visibilities: readonly Visibility[] = ['private', 'internal', 'public']
const features = ['disabled', 'private', 'enabled'] as const

/** Every visibility of a project with every level of a feature. */
export const featureCases = visibilities.flatMap((visibility) => features.map((level) => ({ visibility, level })))

export type Tree = { top: TestGroup; group: TestGroup; project: TestProject }

/** A world of its own with a tree of groups and a project of each visibility, and every kind of caller in them. */
export type Arrangement = {
  readonly world: World
  readonly trees: ReadonlyMap<Visibility, Tree>
  readonly callers: ReadonlyMap<Kind, Caller>
}

export async function arranged(): Promise<Arrangement> {
  const world = await World.start()
  const trees = new Map<Visibility, Tree>()
  const callers = new Map<Kind, Caller>()
  const people = new Map<Kind, Client>()
  for (const kind of Object.keys(kinds) as Kind[])
    if (kind !== 'an anonymous caller' && kind !== 'an administrator')
      people.set(kind, await world.user({ external: kind.includes('external') }))
  const add = async (path: string, kind: Kind, access_level: number, more: object = {}) => {
    const added = await world.root.post(`${path}/members`, { user_id: people.get(kind)!.id, access_level, ...more })
    if (added.status !== 201) throw new Error(added.text)
  }
  const elsewhere = await world.project()
  await add(`/projects/${elsewhere.id}`, 'a member of others', 40)
  await add(`/groups/${(await world.group()).id}`, 'a member of others', 50)
  const over = await world.group()
  const partners = await world.group({ parent: over })
  await add(`/groups/${partners.id}`, 'a member through a share', 50)
  await add(`/groups/${partners.id}`, 'a member with a lower role for longer', 50)
  await add(`/groups/${over.id}`, 'a member through a share with an ancestor group', 10)
  const former = await world.group()
  await add(`/groups/${former.id}`, 'a member through an expired share', 40)
  for (const visibility of visibilities) {
    const top = await world.group({ visibility })
    const group = await world.group({ visibility, parent: top })
    const project = await world.project({ visibility, group })
    trees.set(visibility, { top, group, project })
    const own = `/projects/${project.id}`
    await add(own, 'an external guest', 10)
    await add(own, 'a guest', 10)
    await add(own, 'a reporter', 20)
    await add(own, 'a developer', 30)
    await add(own, 'a maintainer', 40)
    await add(`/groups/${group.id}`, 'an owner of the group', 50)
    await add(`/groups/${top.id}`, 'a member of the ancestor group', 30)
    await add(own, 'a former member', 40, { expires_at: '2099-01-01' })
    await add(`/groups/${group.id}`, 'a former group member', 40, { expires_at: '2099-01-01' })
    await add(own, 'a member with a lower role than above', 10)
    await add(`/groups/${top.id}`, 'a member with a lower role than above', 40)
    await add(own, 'a member with a lower role for longer', 40, { expires_at: '2098-01-01' })
    await add(`/groups/${top.id}`, 'a group member with a lower role for longer', 30)
    await add(`/groups/${group.id}`, 'a group member with a lower role for longer', 40, { expires_at: '2098-01-01' })
    await shareProject(world, project.id, partners.id, 20)
    await shareProject(world, project.id, former.id, 40, '2020-01-01')
    // Recomputes who has access through these.
    for (const share_with_group_lock of [true, false])
      await world.root.put(`/groups/${group.id}`, { share_with_group_lock })
  }
  // The state after midnight: the day has come, and nothing was recomputed.
  await moveEndOfMemberships(world, '2099-01-01')
  for (const table of ['group_access', 'project_access'] as const) await moveEndOfAccess(world, table, '2099-01-01')
  for (const [kind, client] of people) callers.set(kind, await actorFor(world, client))
  callers.set('an anonymous caller', null)
  callers.set('an administrator', await actorFor(world, world.root))
  return { world, trees, callers }
}

/** Who sees a project or group of this visibility according to the documents. */
export const sees = (kind: Kind, visibility: Visibility): boolean =>
  kind === 'an administrator' ||
  kinds[kind] > 0 ||
  visibility === 'public' ||
  (visibility === 'internal' && kind !== 'an anonymous caller' && kind !== 'an external user')
