import { beforeAll, describe, expect, test } from 'vitest'
import { type Level, levels } from '../../src/access/levels.ts'
import type { Scope } from '../../src/access/scopes.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import { endMemberships, ensureMember } from '../tables/access.ts'
import { daysAgo } from '../tables/statements.ts'
import { expireTokens } from '../tables/tokens.ts'
import { type Answer, Client, unique, World } from '../world.ts'
import { type CallerKind, callRow, expectOutcome, makePlace, type Place } from './permission-place.ts'
import { groupRows, projectRows, type Row } from './permissions.ts'

/** Makes a caller of a group and its project. */
type Make = (stage: { readonly world: World; readonly place: Place }) => Promise<Client>

const succeeds = async (answer: Promise<Answer>): Promise<any> => {
  const { status, text, json } = await answer
  if (status >= 300) throw new Error(`${status} ${text}`)
  return json
}

const addTo = (world: World, path: string, { id }: Client, level: Level) =>
  succeeds(world.root.post(`${path}/members`, { user_id: id, access_level: levels[level] }))

const ofGroup = ({ groupId }: Place) => `/groups/${groupId}`
const ofProject = ({ projectId }: Place) => `/projects/${projectId}`

/** A group with one member. */
async function groupOf(
  world: World,
  member: Client,
  level: Level,
  parent?: { id: number; full_path: string; path: string },
) {
  const group = await world.group({ visibility: 'private', ...(parent && { parent }) })
  await addTo(world, `/groups/${group.id}`, member, level)
  return group
}

const share = (world: World, path: string, groupId: number, level: Level) =>
  succeeds(world.root.post(`${path}/share`, { group_id: groupId, group_access: levels[level] }))

/** The bot of a token of this project or group. */
async function bot(world: World, path: string, level: Level): Promise<Client> {
  const made = await succeeds(
    world.root.post(`${path}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: levels[level] }),
  )
  return new Client(world.origin, { id: made.user_id, username: 'bot', token: made.token })
}

/** An owner of the place, and then something that takes it away. */
const formerOwner =
  (end: (stage: Parameters<Make>[0], ann: Client) => Promise<unknown>): Make =>
  async (stage) => {
    const ann = await stage.world.user()
    await addTo(stage.world, ofGroup(stage.place), ann, 'owner')
    await end(stage, ann)
    return ann
  }

/** Callers and the kind of caller that they count as, for the project and for its group. */
const others: readonly (readonly [name: string, project: CallerKind, group: CallerKind | undefined, make: Make])[] = [
  [
    'a member whose membership has ended',
    'stranger',
    'stranger',
    formerOwner(({ world }, ann) => endMemberships(world, ann.id)),
  ],
  [
    'a member who left',
    'stranger',
    'stranger',
    formerOwner(({ place }, ann) => succeeds(ann.delete(`${ofGroup(place)}/members/${ann.id}`))),
  ],
  [
    'a user who asks for access',
    'stranger',
    'stranger',
    async ({ world, place }) => {
      const ann = await world.user()
      for (const at of [ofGroup(place), ofProject(place)]) await succeeds(ann.post(`${at}/access_requests`))
      return ann
    },
  ],
  [
    'a user with the unconfirmed address of an invitation',
    'stranger',
    'stranger',
    async ({ world, place }) => {
      const [ann, email] = [await world.user(), `${unique('ann')}@example.com`]
      await succeeds(ann.post('/user/emails', { email }))
      for (const at of [ofGroup(place), ofProject(place)])
        await succeeds(world.root.post(`${at}/invitations`, { email, access_level: 40 }))
      return ann
    },
  ],
  [
    'an owner of another group',
    'stranger',
    'stranger',
    async ({ world }) => {
      const ann = await world.user()
      await groupOf(world, ann, 'owner')
      return ann
    },
  ],
  [
    'an owner of a subgroup of the group',
    'stranger',
    undefined,
    async ({ world, place }) => {
      const ann = await world.user()
      await groupOf(world, ann, 'owner', { id: place.groupId, full_path: '', path: '' })
      return ann
    },
  ],
  [
    'a maintainer of another project of the group',
    'stranger',
    undefined,
    async ({ world, place }) => {
      const ann = await world.user()
      await world.project({ group: { id: place.groupId, full_path: '', path: '' }, members: [[ann, 'maintainer']] })
      return ann
    },
  ],
  [
    'the bot of another project',
    'stranger',
    'stranger',
    async ({ world }) => bot(world, `/projects/${(await world.project()).id}`, 'maintainer'),
  ],
  [
    'the bot of another group',
    'stranger',
    'stranger',
    async ({ world }) => bot(world, `/groups/${(await world.group()).id}`, 'owner'),
  ],
  ['the bot of the project', 'developer', undefined, ({ world, place }) => bot(world, ofProject(place), 'developer')],
  ['the bot of the group', 'reporter', 'reporter', ({ world, place }) => bot(world, ofGroup(place), 'reporter')],
  [
    'a member of a group that the group is shared with',
    'developer',
    'developer',
    async ({ world, place }) => {
      const ann = await world.user()
      await share(world, ofGroup(place), (await groupOf(world, ann, 'owner')).id, 'developer')
      return ann
    },
  ],
  [
    'a guest of a group that the project is shared with',
    'guest',
    undefined,
    async ({ world, place }) => {
      const ann = await world.user()
      await share(world, ofProject(place), (await groupOf(world, ann, 'guest')).id, 'maintainer')
      return ann
    },
  ],
  [
    'a guest who is a maintainer by a shared group',
    'maintainer',
    'maintainer',
    async ({ world, place }) => {
      const ann = await world.user()
      await addTo(world, ofGroup(place), ann, 'guest')
      await share(world, ofGroup(place), (await groupOf(world, ann, 'owner')).id, 'maintainer')
      return ann
    },
  ],
  [
    'an owner of a subgroup of a group that the group is shared with',
    'stranger',
    'stranger',
    async ({ world, place }) => {
      const ann = await world.user()
      const above = await world.group({ visibility: 'private' })
      await groupOf(world, ann, 'owner', above)
      await share(world, ofGroup(place), above.id, 'maintainer')
      return ann
    },
  ],
  [
    'a member of a group that the group is no longer shared with',
    'stranger',
    'stranger',
    async ({ world, place }) => {
      const ann = await world.user()
      const { id } = await groupOf(world, ann, 'owner')
      await share(world, ofGroup(place), id, 'maintainer')
      await succeeds(world.root.delete(`${ofGroup(place)}/share/${id}`))
      return ann
    },
  ],
]

/** Owners whose account or token permits nothing. */
const refused: readonly (readonly [name: string, status: 401 | 403, make: Make])[] = [
  ['a blocked owner', 403, formerOwner(({ world }, ann) => succeeds(world.root.post(`/users/${ann.id}/block`)))],
  ['a banned owner', 403, formerOwner(({ world }, ann) => succeeds(world.root.post(`/users/${ann.id}/ban`)))],
  ['an owner with an expired token', 401, formerOwner(({ world }, ann) => expireTokens(world, ann.id, daysAgo(1)))],
  [
    'an owner with a revoked token',
    401,
    formerOwner(async (_, ann) => succeeds(ann.delete('/personal_access_tokens/self'))),
  ],
  [
    'a deploy token with all scopes',
    401,
    async ({ world, place }) => {
      const scopes = ['read_repository', 'read_registry', 'write_registry']
      const made = await succeeds(
        world.root.post(`${ofProject(place)}/deploy_tokens`, { name: unique('token'), scopes }),
      )
      return new Client(world.origin, { id: 0, username: made.username, token: made.token })
    },
  ],
]

const narrowScopes = [
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
] as const
const scopesOf = new Map<string, readonly Scope[]>(endpoints.map((e) => [`${e.method} ${e.path}`, e.scopes ?? []]))
const routeOf = ([call]: Row): string => call.split(' ', 2).join(' ')

describe('unusual callers get what the permission matrix says', () => {
  let world: World
  let place: Place
  let victimId: number
  const clients = new Map<string, Client>()

  beforeAll(async () => {
    world = await World.start({ STITHY_PLAN: 'ultimate' })
    place = await makePlace(world, { visibility: 'public' })
    for (const at of [ofGroup(place), ofProject(place)])
      await succeeds(world.root.put(at, { request_access_enabled: true }))
    const victim = await world.user()
    victimId = victim.id
    const made = [
      ...others.map(([name, , , make]) => [name, make] as const),
      ...refused.map(([name, , make]) => [name, make] as const),
    ]
    for (const [name, make] of made) clients.set(name, await make({ world, place }))
    const owner = await world.user()
    await addTo(world, ofGroup(place), owner, 'owner')
    for (const scope of narrowScopes) clients.set(scope, await world.as(owner, [scope]))
    // They see it until here, so that they can ask for access.
    await succeeds(world.root.put(ofProject(place), { visibility: 'private' }))
    await succeeds(world.root.put(ofGroup(place), { visibility: 'private' }))
    return () => world[Symbol.asyncDispose]()
  })

  /** Without calls that end the token of their caller, or that only bots may make. */
  const rowsOf = (kind: 'Project' | 'Group'): Row[] =>
    (kind === 'Project' ? projectRows : groupRows).filter(
      ([call, , , { only } = {}]) =>
        only !== 'archived' && !call.includes('/access_tokens/self/') && !call.endsWith('/reset_approvals'),
    )

  async function ask(name: string, row: Row, kind: 'Project' | 'Group'): Promise<Answer> {
    if (row[3]?.victim)
      await ensureMember(
        world,
        kind === 'Project' ? 'project_id' : 'namespace_id',
        kind === 'Project' ? place.projectId : place.groupId,
        victimId,
      )
    return callRow(clients.get(name)!, row, { of: kind, place, userId: victimId })
  }

  test.for(others)('%s counts as: %s', async ([name, ofProject, ofGroup]) => {
    for (const [kind, caller] of [
      ['Project', ofProject],
      ['Group', ofGroup],
    ] as const)
      if (caller)
        for (const row of rowsOf(kind))
          expectOutcome(await ask(name, row, kind), row, { caller, visibility: 'private', archived: false }, kind, name)
  })

  test.for(refused)('%s is refused with %i', async ([name, status]) => {
    for (const kind of ['Project', 'Group'] as const)
      for (const row of rowsOf(kind)) {
        const answer = await ask(name, row, kind)
        expect.soft(answer.status, `${row[0]} by ${name}: ${answer.text}`).toBe(status)
      }
  })

  test.for(narrowScopes)('the scope %s of an owner permits what the endpoints declare', async (scope) => {
    for (const kind of ['Project', 'Group'] as const)
      for (const row of rowsOf(kind)) {
        const isEnough =
          (scope === 'read_api' && row[0].startsWith('GET ')) || scopesOf.get(routeOf(row))!.includes(scope)
        const answer = await ask(scope, row, kind)
        const cell = { caller: 'owner', visibility: 'private', archived: false } as const
        if (isEnough) expectOutcome(answer, row, cell, kind, scope)
        else expect.soft(answer.status, `${row[0]} with ${scope}: ${answer.text}`).toBe(403)
      }
  })
})
