import { levels } from '../../src/access/levels.ts'
import type { StoredProject } from '../../src/modules/repository/commits/testing.ts'
import { hasSsh } from '../ssh.ts'
import { groupsOf } from '../tables/access.ts'
import { daysAgo } from '../tables/statements.ts'
import { expireTokens } from '../tables/tokens.ts'
import { Client, type TestGroup, type World } from '../world.ts'
import type { Stage } from './stage.ts'

/** What a flow needs: read access to the guarded project, push access to it, a valid token, or the same access by its deploy key. */
export type Need = 'read' | 'push' | 'token' | 'deploy_key_read' | 'deploy_key_push'

type Place = {
  readonly world: World
  readonly ann: Client
  readonly guarded: StoredProject
  readonly group: TestGroup
}

/** A way in which a user has a right in a project and loses it. */
export type Right = {
  readonly name: string
  readonly visibility?: 'private' | 'internal' | 'public'
  /** What the user can no longer do afterwards. */
  readonly takes: readonly Need[]
  /** What the user can do before that, once the flows have begun; everything when absent. */
  readonly leaves?: readonly Need[]
  /** Gives the user the access of a developer. */
  readonly grant: (place: Place) => Promise<unknown>
  /** Removes other access, after the flows have begun, so that only the right in question is left. */
  readonly narrow?: (stage: Stage) => Promise<unknown>
  readonly revoke: (stage: Stage) => Promise<unknown>
}

const everything = ['read', 'push', 'token'] as const
const byDeployKey = ['deploy_key_read', 'deploy_key_push'] as const
const developer = levels.developer

const member = (kind: 'projects' | 'groups', id: number, { id: userId }: Client) => `/${kind}/${id}/members/${userId}`

const addTo = (world: World, kind: 'projects' | 'groups', id: number, who: Client) =>
  world.root.post(`/${kind}/${id}/members`, { user_id: who.id, access_level: developer })

const inProject = ({ world, guarded, ann }: Place) => addTo(world, 'projects', guarded.id, ann)
const inGroup = ({ world, group, ann }: Place) => addTo(world, 'groups', group.id, ann)

const change =
  (level: number) =>
  ({ world, guarded, ann }: Stage) =>
    world.root.put(member('projects', guarded.id, ann), { access_level: level })

const leaveProject = ({ world, guarded, ann }: Stage) => world.root.delete(member('projects', guarded.id, ann))
const edit =
  (how: object) =>
  ({ world, guarded }: Stage) =>
    world.root.put(`/projects/${guarded.id}`, how)

/** Another group, with the user in it, which is invited to the guarded project or to the group around it. */
async function invite({ world, ann, guarded, group }: Place, to: 'projects' | 'groups'): Promise<void> {
  const invited = await world.group({ members: [[ann, 'developer']] })
  const at = to === 'projects' ? `/projects/${guarded.id}` : `/groups/${group.id}`
  await world.root.post(`${at}/share`, { group_id: invited.id, group_access: developer })
}

const invitedGroup = async ({ world, ann }: Stage): Promise<number> => (await groupsOf(world, ann.id))[0].namespace_id

const repositoryOff = {
  repository_access_level: 'disabled',
  merge_requests_access_level: 'disabled',
  builds_access_level: 'disabled',
}
const repositoryForMembers = {
  repository_access_level: 'private',
  merge_requests_access_level: 'private',
  builds_access_level: 'private',
}

const deployKeyRights: readonly Right[] = [
  {
    name: 'the deploy key is removed',
    takes: byDeployKey,
    grant: inProject,
    revoke: ({ world, guarded, deployKey }) =>
      world.root.delete(`/projects/${guarded.id}/deploy_keys/${deployKey!.id}`),
  },
  {
    name: 'the deploy key becomes read-only',
    takes: ['deploy_key_push'],
    grant: inProject,
    revoke: ({ world, guarded, deployKey }) =>
      world.root.put(`/projects/${guarded.id}/deploy_keys/${deployKey!.id}`, { can_push: false }),
  },
]

export const rights: readonly Right[] = [
  { name: 'the membership is removed', takes: ['read', 'push'], grant: inProject, revoke: leaveProject },
  { name: 'the member becomes a guest', takes: ['read', 'push'], grant: inProject, revoke: change(levels.guest) },
  { name: 'the member becomes a reporter', takes: ['push'], grant: inProject, revoke: change(levels.reporter) },
  {
    name: 'the membership expires',
    takes: ['read', 'push'],
    grant: inProject,
    revoke: ({ world, guarded, ann }) =>
      world.root.put(member('projects', guarded.id, ann), {
        access_level: developer,
        expires_at: new Date().toISOString().slice(0, 10),
      }),
  },
  {
    name: 'the membership of the group around is removed',
    takes: ['read', 'push'],
    grant: inGroup,
    revoke: ({ world, group, ann }) => world.root.delete(member('groups', group.id, ann)),
  },
  {
    name: 'the project is transferred to another group',
    takes: ['read', 'push'],
    grant: inGroup,
    revoke: async ({ world, guarded }) =>
      world.root.put(`/projects/${guarded.id}/transfer`, { namespace: (await world.group()).id }),
  },
  {
    name: 'the share of the project ends',
    takes: ['read', 'push'],
    grant: (place) => invite(place, 'projects'),
    revoke: async (stage) =>
      stage.world.root.delete(`/projects/${stage.guarded.id}/share/${await invitedGroup(stage)}`),
  },
  {
    name: 'the share of the group ends',
    takes: ['read', 'push'],
    grant: (place) => invite(place, 'groups'),
    revoke: async (stage) => stage.world.root.delete(`/groups/${stage.group.id}/share/${await invitedGroup(stage)}`),
  },
  {
    name: 'the membership of an invited group is removed',
    takes: ['read', 'push'],
    grant: (place) => invite(place, 'projects'),
    revoke: async (stage) => stage.world.root.delete(member('groups', await invitedGroup(stage), stage.ann)),
  },
  {
    name: 'the repository is switched off',
    takes: ['read', 'push', ...byDeployKey],
    grant: inProject,
    revoke: edit(repositoryOff),
  },
  {
    name: 'the repository of a public project is reserved for members',
    visibility: 'public',
    takes: ['read'],
    leaves: ['read', 'token'],
    grant: inProject,
    narrow: leaveProject,
    revoke: edit(repositoryForMembers),
  },
  {
    name: 'a public project becomes private',
    visibility: 'public',
    takes: ['read'],
    leaves: ['read', 'token'],
    grant: inProject,
    narrow: leaveProject,
    revoke: edit({ visibility: 'private' }),
  },
  {
    name: 'a user becomes external to an internal project',
    visibility: 'internal',
    takes: ['read'],
    leaves: ['read', 'token'],
    grant: inProject,
    narrow: leaveProject,
    revoke: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { external: true }),
  },
  {
    name: 'an administrator becomes a user',
    takes: ['read', 'push'],
    grant: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { admin: true }),
    revoke: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { admin: false }),
  },
  {
    name: 'the account is blocked',
    takes: everything,
    grant: inProject,
    revoke: ({ world, ann }) => world.root.post(`/users/${ann.id}/block`),
  },
  {
    name: 'the project is archived',
    takes: ['push', 'deploy_key_push'],
    grant: inProject,
    revoke: ({ world, guarded }) => world.root.post(`/projects/${guarded.id}/archive`),
  },
  {
    name: 'the token is revoked',
    takes: ['token'],
    grant: inProject,
    revoke: ({ ann }) => ann.delete('/personal_access_tokens/self'),
  },
  {
    name: 'the token expires',
    takes: ['token'],
    grant: inProject,
    revoke: ({ world, ann }) => expireTokens(world, ann.id, daysAgo(1)),
  },
  {
    name: 'the token has no scope for code',
    takes: ['token'],
    grant: inProject,
    revoke: async (stage) => {
      stage.ann = await stage.world.as(stage.ann, ['read_user'])
    },
  },
  {
    name: 'the token is limited to other projects',
    takes: ['token'],
    grant: inProject,
    revoke: async (stage) => {
      const { ann, fork, danFork } = stage
      const limited = { name: 'limited', scopes: ['api'], project_ids: [fork.id, danFork.id] }
      const { json } = await ann.post('/user/personal_access_tokens', limited)
      stage.ann = new Client(stage.world.origin, { id: ann.id, username: ann.username, token: json.token })
    },
  },
  ...(hasSsh ? deployKeyRights : []),
]
