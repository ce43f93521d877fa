import { describe, expect } from 'vitest'
import { addMember, changeShare, deleteShare, endMemberships, shareProject } from '../../../../test/tables/access.ts'
import { changeProject, changeStatistics } from '../../../../test/tables/projects.ts'
import { addCustomAttribute } from '../../../../test/tables/users.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'

const notFound = { status: 404, json: { message: '404 Project Not Found' } }

describe('GET /projects/:id', () => {
  test('a project is found by id and full path, in any case, and with .json', async ({ world }) => {
    const group = await world.group({ visibility: 'public', parent: await world.group({ visibility: 'public' }) })
    const project = await world.project({ visibility: 'public', group })
    for (const name of [project.id, `${project.id}.json`, encodeURIComponent(project.full_path.toUpperCase())])
      expect((await world.anonymous.get(`/projects/${name}`)).json.id, String(name)).toBe(project.id)
  })

  test.for(['0', '-1', '99999999999', '99999999999999999999', 'name-only', 'a%2Fb', '1e3', '%2F', '..%2F..'])(
    '404 for GET /projects/%s',
    async (id, { world }) => {
      expect(await world.root.get(`/projects/${id}`)).toMatchObject(notFound)
    },
  )

  test('404 for GET /projects/:id with the path of a group', async ({ world }) => {
    const inner = await world.group({ parent: await world.group() })
    expect(await world.root.get(`/projects/${encodeURIComponent(inner.full_path)}`)).toMatchObject(notFound)
  })

  test('anonymous callers get the simple record of a project', async ({ world }) => {
    const project = await world.project({ visibility: 'public', description: 'Hello' })
    const seen = (await world.anonymous.get(`/projects/${project.id}?statistics=true&license=true`)).json
    expect(Object.keys(seen).sort()).toEqual(
      [
        'id',
        'description',
        'default_branch',
        'ssh_url_to_repo',
        'http_url_to_repo',
        'web_url',
        'readme_url',
        'tag_list',
        'topics',
        'name',
        'name_with_namespace',
        'path',
        'path_with_namespace',
        'created_at',
        'last_activity_at',
        'forks_count',
        'avatar_url',
        'star_count',
        'namespace',
      ].sort(),
    )
    expect(seen).toMatchObject({ description: 'Hello', namespace: { kind: 'group' } })
  })

  test.for([
    { who: 'guest', token: false, code: false },
    { who: 'reporter', token: false, code: true },
    { who: 'developer', token: false, code: true },
    { who: 'maintainer', token: true, code: true },
  ] as const)(
    'record for a $who: runners token $token, default branch $code',
    async ({ who, token, code }, { world }) => {
      const ann = await world.user()
      const project = await world.project({ members: [[ann, who]] })
      const seen = (await ann.get(`/projects/${project.id}`)).json
      for (const field of ['runners_token', 'import_error', 'build_git_strategy'])
        expect(field in seen, field).toBe(token)
      expect('default_branch' in seen).toBe(code)
      expect('repository_storage' in seen).toBe(false)
      expect('repository_storage' in (await world.root.get(`/projects/${project.id}`)).json).toBe(true)
    },
  )

  test('features for members are enabled in the record of members with access', async ({ world }) => {
    const only = {
      issues_access_level: 'private',
      merge_requests_access_level: 'private',
      repository_access_level: 'private',
      builds_access_level: 'private',
      wiki_access_level: 'disabled',
      snippets_access_level: 'enabled',
    }
    const [stranger, guest, reporter] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      visibility: 'public',
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
      ...only,
    })
    const flags = async (who: Client) => {
      const { json } = await who.get(`/projects/${project.id}`)
      return [
        json.issues_enabled,
        json.merge_requests_enabled,
        json.jobs_enabled,
        json.wiki_enabled,
        json.snippets_enabled,
      ]
    }
    expect(await flags(stranger)).toEqual([false, false, false, false, true])
    expect(await flags(guest)).toEqual([true, false, true, false, true])
    expect(await flags(reporter)).toEqual([true, true, true, false, true])
    expect(await flags(world.root)).toEqual([true, true, true, false, true])
    const { json } = await stranger.get(`/projects/${project.id}`)
    expect(json).not.toHaveProperty('open_issues_count')
    expect(json._links).not.toHaveProperty('issues')
    expect(json._links).not.toHaveProperty('merge_requests')
    expect(json).not.toHaveProperty('default_branch')
    // When everything but the code is public, every member can read the code.
    expect((await guest.get(`/projects/${project.id}`)).json).toHaveProperty('default_branch')
  })

  test('permissions have the highest level of ancestors, in lists that of the own group', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'maintainer']] })
    const group = await world.group({ parent: top })
    const project = await world.project({ group, members: [] })
    const one = async () => (await ann.get(`/projects/${project.id}`)).json.permissions
    const listed = async () => (await ann.get(`/projects?search=${project.path}`)).json[0].permissions
    const level = (access_level: number) => ({ access_level, notification_level: 3 })
    expect(await one()).toEqual({ project_access: null, group_access: level(40) })
    expect(await listed()).toEqual({ project_access: null, group_access: null })
    await addMember(world, { group: group.id }, ann.id, 20)
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await one()).toEqual({ project_access: level(40), group_access: level(40) })
    expect(await listed()).toEqual({ project_access: level(40), group_access: level(20) })
    await endMemberships(world, ann.id, 'in projects')
    expect((await one()).project_access).toBe(null)
  })

  test('statistics=true adds statistics for reporters and up', async ({ world }) => {
    const [guest, reporter] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    await changeStatistics(world, project.id, {
      commit_count: 9,
      repository_size: 1,
      wiki_size: 2,
      snippets_size: 6,
      lfs_objects_size: 3,
      job_artifacts_size: 4,
      packages_size: 5,
    })
    const statistics = {
      commit_count: 9,
      storage_size: 21,
      repository_size: 1,
      wiki_size: 2,
      snippets_size: 6,
      lfs_objects_size: 3,
      job_artifacts_size: 4,
      packages_size: 5,
      container_registry_size: 0,
    }
    for (const path of [`/projects/${project.id}?`, `/projects?search=${project.path}&`]) {
      const of = async (who: Client, query = 'statistics=true') => {
        const { json } = await who.get(path + query)
        return (Array.isArray(json) ? json[0] : json).statistics
      }
      expect(await of(reporter)).toEqual(statistics)
      expect(await of(reporter, '')).toBeUndefined()
      expect(await of(guest)).toBeUndefined()
    }
    expect(
      (await reporter.get(`/projects?search=${project.path}&statistics=true&simple=true`)).json[0],
    ).not.toHaveProperty('statistics')
  })

  test('a fork shows its source to callers who can see it', async ({ world }) => {
    const ann = await world.user()
    const source = await world.project()
    const fork = await world.project({ members: [[ann, 'guest']] })
    await changeProject(world, fork.id, { forked_from_project_id: source.id })
    expect((await ann.get(`/projects/${fork.id}`)).json).not.toHaveProperty('forked_from_project')
    expect((await world.root.get(`/projects/${fork.id}`)).json.forked_from_project).toMatchObject({
      id: source.id,
      path_with_namespace: source.full_path,
      http_url_to_repo: `${world.origin}/${source.full_path}.git`,
      topics: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    await world.root.post(`/projects/${source.id}/members`, { user_id: ann.id, access_level: 10 })
    expect((await ann.get(`/projects/${fork.id}`)).json.forked_from_project).toMatchObject({ id: source.id })
  })

  test('a fork shows the default branch of its source to callers who can read its code', async ({ world }) => {
    const ann = await world.user()
    const source = await world.project({
      visibility: 'public',
      repository_access_level: 'private',
      merge_requests_access_level: 'private',
      builds_access_level: 'private',
    })
    const fork = await world.project({ visibility: 'public' })
    await changeProject(world, fork.id, { forked_from_project_id: source.id })
    await changeProject(world, source.id, { default_branch: 'secret', readme_path: 'README.md' })
    const shown = async (who: Client) => (await who.get(`/projects/${fork.id}`)).json.forked_from_project
    expect(await shown(world.root)).toMatchObject({ id: source.id, default_branch: 'secret' })
    expect(await shown(ann)).toMatchObject({ id: source.id, readme_url: null })
    expect(await shown(ann)).not.toHaveProperty('default_branch')
    await changeProject(world, source.id, { default_branch: 'fix#1', readme_path: 'docs/50% README.md' })
    expect((await world.root.get(`/projects/${source.id}`)).json.readme_url).toMatch(
      /\/-\/blob\/fix%231\/docs\/50%25%20README\.md$/,
    )
    await changeProject(world, source.id, { default_branch: 'secret', readme_path: 'README.md' })
    // A new member sees it at once, although their level in the fork did not change.
    await world.root.post(`/projects/${source.id}/members`, { user_id: ann.id, access_level: 20 })
    expect(await shown(ann)).toMatchObject({
      default_branch: 'secret',
      readme_url: expect.stringContaining('README.md'),
    })
    expect(
      (await ann.get('/projects?simple=false')).json.find(({ id }: { id: number }) => id === fork.id),
    ).toMatchObject({
      forked_from_project: { default_branch: 'secret' },
    })
  })

  test('a project lists the groups it is shared with', async ({ world }) => {
    const partners = await world.group()
    const project = await world.project()
    await shareProject(world, project.id, partners.id, 20, '2099-01-31')
    expect((await world.root.get(`/projects/${project.id}`)).json.shared_with_groups).toEqual([
      {
        group_id: partners.id,
        group_name: partners.path,
        group_full_path: partners.full_path,
        group_access_level: 20,
        expires_at: '2099-01-31',
      },
    ])
  })

  test('changes of a share or its group appear at once in the project and in lists', async ({ world }) => {
    const above = await world.group()
    const partners = await world.group({ parent: above })
    const project = await world.project()
    const shares = async () => {
      const one = (await world.root.get(`/projects/${project.id}`)).json.shared_with_groups
      const list = (await world.root.get(`/projects?search=${project.path}`)).json
      expect(list[0].shared_with_groups).toEqual(one)
      return one
    }
    expect(await shares()).toEqual([])
    await shareProject(world, project.id, partners.id, 20)
    expect(await shares()).toMatchObject([{ group_full_path: partners.full_path, group_access_level: 20 }])
    await changeShare(world, project.id, partners.id, 30)
    expect(await shares()).toMatchObject([{ group_access_level: 30 }])
    const path = unique('moved')
    await world.root.put(`/groups/${above.id}`, { path })
    await world.root.put(`/groups/${partners.id}`, { name: 'Others' })
    expect(await shares()).toMatchObject([{ group_full_path: `${path}/${partners.path}`, group_name: 'Others' }])
    await deleteShare(world, project.id, partners.id)
    expect(await shares()).toEqual([])
  })

  test('D2-PROJECTS-ADMIN-PARAMS: custom attributes are for administrators on request', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await addCustomAttribute(world, { project: project.id }, 'team', 'blue')
    const path = `/projects/${project.id}?with_custom_attributes=true`
    expect((await world.root.get(path)).json.custom_attributes).toEqual([{ key: 'team', value: 'blue' }])
    expect((await world.root.get(`/projects/${project.id}`)).json).not.toHaveProperty('custom_attributes')
    expect((await ann.get(path)).json).not.toHaveProperty('custom_attributes')
  })
})

const callers = {
  'an anonymous caller': async (world: World) => world.anonymous,
  'a stranger': (world: World) => world.user(),
  'an external user': (world: World) => world.user({ external: true }),
  'an administrator': async (world: World) => world.root,
}

describe('access to projects', () => {
  test.for([
    { who: 'an anonymous caller', visibility: 'public', status: 200 },
    { who: 'an anonymous caller', visibility: 'internal', status: 404 },
    { who: 'an anonymous caller', visibility: 'private', status: 404 },
    { who: 'a stranger', visibility: 'public', status: 200 },
    { who: 'a stranger', visibility: 'internal', status: 200 },
    { who: 'a stranger', visibility: 'private', status: 404 },
    { who: 'an external user', visibility: 'public', status: 200 },
    { who: 'an external user', visibility: 'internal', status: 404 },
    { who: 'an administrator', visibility: 'private', status: 200 },
  ] as const)('D2-VIS: $who gets $status for a $visibility project', async ({ who, visibility, status }, { world }) => {
    const project = await world.project({ visibility })
    const seen = await (await callers[who](world)).get(`/projects/${project.id}`)
    expect(seen.status).toBe(status)
    if (status === 404) expect(seen).toMatchObject(notFound)
  })
})
