import { describe, expect } from 'vitest'
import { levels } from '../../src/access/levels.ts'
import { Client, type TestProject, test, unique, type World } from '../world.ts'

/**
 * Caching records as text must not change any response, for any caller, after any change of what they show. A record
 * requested with its licence or statistics is never cached: the two responses are compared for each viewer after each change,
 * which finds text that was cached for another viewer or before the change.
 */

type Scene = {
  owner: Client
  member: Client
  project: TestProject
  /** In the personal namespace of `owner`. */
  personal: TestProject
  /** A fork of `project`. */
  fork: TestProject
  outerGroup: number
  innerGroup: number
  sharedWith: number
  /** Part of the names of all three projects. */
  word: string
  viewers: Record<string, Client>
}

async function limitedToken(world: World, who: Client, limits: object): Promise<Client> {
  const made = await who.post('/user/personal_access_tokens', { name: 'limited', scopes: ['api'], ...limits })
  expect(made.status, made.text).toBe(201)
  return new Client(world.origin, { id: who.id, username: who.username, token: made.json.token })
}

async function scene(world: World): Promise<Scene> {
  const [owner, member, guest, stranger] = await Promise.all([world.user(), world.user(), world.user(), world.user()])
  const external = await world.user({ external: true })
  const outer = await world.group({ visibility: 'public', members: [[owner, 'owner']] })
  const inner = await world.group({ visibility: 'public', parent: outer })
  const sharedWith = await world.group({ members: [[member, 'developer']] })
  const word = unique('cached')
  const project = await world.project({
    name: `${word} of a group`,
    visibility: 'public',
    group: inner,
    initialize_with_readme: true,
    members: [
      [member, 'developer'],
      [guest, 'guest'],
    ],
  })
  const made = await owner.post('/projects', {
    name: `${word} of its owner`,
    path: unique('personal'),
    visibility: 'public',
  })
  const forked = await owner.post(`/projects/${project.id}/fork`, { path: unique('fork'), name: `${word} forked` })
  expect([made.status, forked.status]).toEqual([201, 201])
  const asProject = (json: { id: number; path_with_namespace: string; name: string; path: string }): TestProject => ({
    id: json.id,
    full_path: json.path_with_namespace,
    name: json.name,
    path: json.path,
    default_branch: null,
    url: `${world.origin}/${json.path_with_namespace}.git`,
  })
  const [toProject, toGroup, elsewhere, toFork, guestLimited] = await Promise.all([
    limitedToken(world, member, { project_ids: [project.id] }),
    limitedToken(world, owner, { group_ids: [outer.id] }),
    limitedToken(world, member, { group_ids: [sharedWith.id] }),
    limitedToken(world, owner, { project_ids: [forked.json.id] }),
    limitedToken(world, guest, { project_ids: [project.id] }),
  ])
  return {
    owner,
    member,
    project,
    personal: asProject(made.json),
    fork: asProject(forked.json),
    outerGroup: outer.id,
    innerGroup: inner.id,
    sharedWith: sharedWith.id,
    word,
    // A limited token comes before the account it belongs to: its response must not be served to the other viewers.
    viewers: {
      'a token limited to the project': toProject,
      'a token limited to the group': toGroup,
      'a token limited to another group': elsewhere,
      'a token limited to the fork': toFork,
      "a guest's token limited to the project": guestLimited,
      'the owner of the group': owner,
      'a developer': member,
      'a guest': guest,
      'an external user': external,
      'a user without membership': stranger,
      'an administrator': world.root,
    },
  }
}

type Change = { readonly what: string; readonly make: (scene: Scene, world: World) => Promise<unknown> }

/** Project parameters with values that are not the defaults. */
const edits = {
  description: 'Another description',
  topics: ['one', 'two'],
  visibility: 'internal',
  issues_access_level: 'private',
  merge_requests_access_level: 'disabled',
  builds_access_level: 'private',
  repository_access_level: 'private',
  wiki_access_level: 'disabled',
  snippets_access_level: 'private',
  forking_access_level: 'private',
  pages_access_level: 'enabled',
  container_registry_enabled: false,
  resolve_outdated_diff_discussions: true,
  shared_runners_enabled: false,
  lfs_enabled: false,
  build_git_strategy: 'clone',
  ci_default_git_depth: 7,
  ci_config_path: 'ci.yml',
  build_timeout: 7200,
  build_coverage_regex: 'x+',
  auto_cancel_pending_pipelines: 'disabled',
  public_builds: false,
  only_allow_merge_if_pipeline_succeeds: true,
  only_allow_merge_if_all_discussions_are_resolved: true,
  remove_source_branch_after_merge: false,
  printing_merge_request_link_enabled: false,
  request_access_enabled: false,
  autoclose_referenced_issues: false,
  merge_method: 'ff',
  suggestion_commit_message: 'Suggested',
  auto_devops_enabled: false,
  auto_devops_deploy_strategy: 'manual',
  approvals_before_merge: 2,
  external_authorization_classification_label: 'label',
  packages_enabled: false,
  service_desk_enabled: false,
}

const put = (path: (scene: Scene) => string, values: (scene: Scene) => object): Change['make'] => {
  return async (scene, world) => {
    const answer = await world.root.put(path(scene), values(scene))
    expect(answer.status, answer.text).toBe(200)
  }
}

const post = (path: (scene: Scene) => string, values: (scene: Scene) => object): Change['make'] => {
  return async (scene, world) => {
    const answer = await world.root.post(path(scene), values(scene))
    expect(answer.status, answer.text).toBeLessThan(300)
  }
}

const changes: readonly Change[] = [
  {
    what: 'project settings',
    make: put(
      ({ project }) => `/projects/${project.id}`,
      () => edits,
    ),
  },
  {
    what: 'project path',
    make: put(
      ({ project }) => `/projects/${project.id}`,
      () => ({ path: unique('renamed') }),
    ),
  },
  {
    what: 'group name and path',
    make: put(
      ({ innerGroup }) => `/groups/${innerGroup}`,
      () => ({ name: unique('Inner'), path: unique('inner') }),
    ),
  },
  {
    what: 'path of the outer group',
    make: put(
      ({ outerGroup }) => `/groups/${outerGroup}`,
      () => ({ path: unique('outer') }),
    ),
  },
  {
    what: 'large files of the group',
    make: put(
      ({ innerGroup }) => `/groups/${innerGroup}`,
      () => ({ lfs_enabled: false }),
    ),
  },
  {
    what: 'owner name and e-mail',
    make: put(
      ({ owner }) => `/users/${owner.id}`,
      () => ({ name: unique('Owner'), email: `${unique('mail')}@example.com`, skip_reconfirmation: true }),
    ),
  },
  {
    what: 'owner blocked',
    make: post(
      ({ owner }) => `/users/${owner.id}/block`,
      () => ({}),
    ),
  },
  {
    what: 'owner active again',
    make: post(
      ({ owner }) => `/users/${owner.id}/unblock`,
      () => ({}),
    ),
  },
  {
    what: 'star',
    make: async ({ member, project }) => expect((await member.post(`/projects/${project.id}/star`)).status).toBe(201),
  },
  {
    what: 'level of a member',
    make: put(
      ({ project, member }) => `/projects/${project.id}/members/${member.id}`,
      () => ({ access_level: levels.maintainer }),
    ),
  },
  {
    what: 'membership in the group',
    make: post(
      ({ innerGroup }) => `/groups/${innerGroup}/members`,
      ({ member }) => ({ user_id: member.id, access_level: levels.guest }),
    ),
  },
  {
    what: 'notification level',
    make: async ({ member, project }) =>
      expect((await member.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })).status).toBe(200),
  },
  {
    what: 'share with a group',
    make: post(
      ({ project }) => `/projects/${project.id}/share`,
      ({ sharedWith }) => ({ group_id: sharedWith, group_access: levels.reporter }),
    ),
  },
  {
    what: 'name of the group it is shared with',
    make: put(
      ({ sharedWith }) => `/groups/${sharedWith}`,
      () => ({ name: unique('Shared'), path: unique('shared') }),
    ),
  },
  {
    what: 'visibility of the fork source',
    make: put(
      ({ project }) => `/projects/${project.id}`,
      () => ({ visibility: 'private' }),
    ),
  },
  {
    what: 'archived',
    make: post(
      ({ project }) => `/projects/${project.id}/archive`,
      () => ({}),
    ),
  },
  {
    what: 'not archived',
    make: post(
      ({ project }) => `/projects/${project.id}/unarchive`,
      () => ({}),
    ),
  },
  {
    what: 'membership revoked',
    make: async ({ project, member }, world) =>
      expect((await world.root.delete(`/projects/${project.id}/members/${member.id}`)).status).toBe(204),
  },
  { what: 'setting of avatars', make: (_scene, world) => world.settings({ avatar_service_enabled: false }) },
  {
    what: 'setting of clone addresses',
    make: (_scene, world) => world.settings({ custom_http_clone_url_root: 'https://clone.example' }),
  },
]

type Json = Record<string, unknown>

const without = (record: Json, ...names: string[]): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))

/** Compares cached records with the same records in responses that are never cached. */
async function compare(client: Client, { project, personal, fork, owner, word }: Scene): Promise<void> {
  for (const { id } of [project, personal, fork]) {
    const fresh = await client.get(`/projects/${id}?license=true`)
    const cached = await client.get(`/projects/${id}`)
    expect(cached.status).toBe(fresh.status)
    if (fresh.status === 200) expect(cached.json).toEqual(without(fresh.json, 'license', 'license_url'))
  }
  // The list shows the group's own membership where a single project shows the inherited one.
  const fresh = await client.get(`/projects?search=${word}&statistics=true`)
  // A blocked user reads nothing.
  if (fresh.status !== 200) return
  const cached = await client.get(`/projects?search=${word}`)
  expect(cached.json).toEqual(fresh.json.map((record: Json) => without(record, 'statistics')))
  const simple = await client.get(`/projects?search=${word}&simple=true`)
  expect(fresh.json).toMatchObject(simple.json)
  const users = await client.get(`/users?username=${owner.username}`)
  // Limited tokens cannot read users.
  if (users.status !== 200) return
  const [user] = users.json
  const profile = (await client.get(`/users/${owner.id}`)).json
  expect(profile).toMatchObject(without(user, 'created_at'))
}

describe('records cached as text', () => {
  test("a user's own token gets the whole record after their limited token requested it", async ({ world }) => {
    const { project, member, viewers } = await scene(world)
    const limited = await viewers['a token limited to the project']!.get(`/projects/${project.id}`)
    const whole = await member.get(`/projects/${project.id}`)
    expect(whole.json).toMatchObject({ default_branch: 'master', can_create_merge_request_in: true })
    expect(limited.json).toEqual(whole.json)
  })

  test('cached records equal uncached records for each viewer after each change', async ({ world }) => {
    const at = await scene(world)
    for (const client of Object.values(at.viewers)) await compare(client, at)
    for (const { what, make } of changes) {
      await make(at, world)
      for (const [viewer, client] of Object.entries(at.viewers)) {
        await compare(client, at).catch((error) => {
          error.message = `${viewer} after a change of ${what}: ${error.message}`
          throw error
        })
      }
    }
  })
})
