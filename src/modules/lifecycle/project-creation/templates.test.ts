import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, git, type TestGroup, type TestProject, test, unique, World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { copyTemplate } from './jobs.ts'

/** A project with a README, in a group. */
const template = (world: World, group: TestGroup, more: Record<string, unknown> = {}): Promise<TestProject> =>
  world.project({ group, initialize_with_readme: true, ...more })

/** A group that the setting names. */
async function templateGroup(world: World, how: Parameters<World['group']>[0] = {}): Promise<TestGroup> {
  const group = await world.group(how)
  await world.settings({ custom_project_templates_group_id: group.id })
  return group
}

const create = (who: Client, how: Record<string, unknown>) =>
  who.post('/projects', { path: unique('made'), use_custom_template: true, ...how })

const unknown = (parameter: string, value: number | string) => ({
  status: 400,
  json: { message: { [parameter]: [`'${value}' is unknown or invalid`] } },
})

/** Runs the job of a project created from a template. */
async function bringTemplate(world: World, projectId: number): Promise<void> {
  const job = (await world.jobs(`copy_template:${projectId}`)).at(-1)
  await copyTemplate.run(job!.payload, await contextFor(world, null))
}

const repositoryOf = async (world: World, id: number) =>
  projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })

const refsOf = (dir: string) => git(dir, 'for-each-ref', '--format=%(objectname) %(refname)')

describe('projects created from a template', () => {
  test('a project from a template gets its repository and nothing else', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await templateGroup(world, { visibility: 'public' })
    const source = await template(world, group, {
      visibility: 'public',
      description: 'A template',
      default_branch: 'trunk',
      members: [[bob, 'developer']],
    })
    await world.root.post(`/projects/${source.id}/repository/branches`, { branch: 'side', ref: 'trunk' })
    await world.root.post(`/projects/${source.id}/repository/tags`, { tag_name: 'v1', ref: 'trunk' })
    const made = await create(ann, { template_project_id: source.id })
    expect(made).toMatchObject({
      status: 201,
      json: { import_status: 'scheduled', description: null, default_branch: null, visibility: 'private' },
    })
    const { id } = made.json
    const commit = { branch: 'trunk', content: 'x', commit_message: 'x' }
    expect((await ann.post(`/projects/${id}/repository/files/a.txt`, commit)).status).toBe(403)

    await bringTemplate(world, id)
    const record = (await ann.get(`/projects/${id}`)).json
    expect(record).toMatchObject({ import_status: 'finished', default_branch: 'trunk', empty_repo: false })
    expect('forked_from_project' in record).toBe(false)
    expect((await world.root.get(`/projects/${source.id}`)).json.forks_count).toBe(0)
    expect((await bob.get(`/projects/${id}`)).status).toBe(404)
    const [from, to] = [await repositoryOf(world, source.id), await repositoryOf(world, id)]
    expect(await refsOf(to)).toBe(await refsOf(from))
    expect((await ann.post(`/projects/${id}/repository/files/a.txt`, commit)).status).toBe(201)

    await (await contextFor(world, null)).git.removeRepository(from)
    expect((await ann.get(`/projects/${id}/repository/files/README.md/raw?ref=side`)).status).toBe(200)
  })

  test('a project from a template has the requested default branch if it exists', async ({ world }) => {
    const source = await template(world, await templateGroup(world), { default_branch: 'trunk' })
    await world.root.post(`/projects/${source.id}/repository/branches`, { branch: 'side', ref: 'trunk' })
    for (const [requested, got] of [
      ['side', 'side'],
      ['other', 'trunk'],
    ]) {
      const { id } = (await create(world.root, { template_name: source.name, default_branch: requested })).json
      await bringTemplate(world, id)
      expect((await world.root.get(`/projects/${id}`)).json.default_branch).toBe(got)
    }
  })

  test('administrators create a project from a template for another user', async ({ world }) => {
    const ann = await world.user()
    const source = await template(world, await templateGroup(world))
    const parameters = { name: unique('made'), use_custom_template: true, template_project_id: source.id }
    const made = await world.root.post(`/projects/user/${ann.id}`, parameters)
    expect(made).toMatchObject({ status: 201, json: { import_status: 'scheduled', owner: { id: ann.id } } })
    expect((await ann.post(`/projects/user/${ann.id}`, parameters)).status).toBe(403)
  })

  test('creation fails when the user can no longer read the template', async ({ world }) => {
    const ann = await world.user()
    const source = await template(world, await templateGroup(world, { visibility: 'public' }), { visibility: 'public' })
    const { id } = (await create(ann, { template_project_id: source.id })).json
    await world.root.put(`/projects/${source.id}`, { visibility: 'private' })
    await bringTemplate(world, id)
    expect((await ann.get(`/projects/${id}`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The source project is not there any more.',
    })
  })

  test('one of several concurrent creations from a template at the same path succeeds', async ({ world }) => {
    const ann = await world.user()
    const source = await template(world, await templateGroup(world, { visibility: 'public' }), { visibility: 'public' })
    const parameters = { template_project_id: source.id, path: 'same' }
    const made = await Promise.all([1, 2, 3].map(() => create(ann, parameters)))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  })
})

describe('project templates', () => {
  test.for([
    ['anonymous', 'public', 401],
    ['none', 'public', 201],
    ['none', 'internal', 201],
    ['none', 'private', 400],
    ['guest', 'private', 400],
    ['reporter', 'private', 201],
    ['maintainer', 'private', 201],
  ] as const)('template by a %s, visibility %s: %i', async ([level, visibility, status], { world }) => {
    const ann = await world.user()
    const members = level === 'anonymous' || level === 'none' ? [] : [[ann, level] as const]
    const group = await templateGroup(world, { visibility })
    const source = await world.project({ group, visibility, members: members.map(([who, at]) => [who, at]) })
    const answer = await create(level === 'anonymous' ? world.anonymous : ann, { template_project_id: source.id })
    expect(answer).toMatchObject(status === 400 ? unknown('template_project_id', source.id) : { status })
  })

  test('a template whose repository is private or disabled is for members or none', async ({ world }) => {
    const [ann, guest] = [await world.user(), await world.user()]
    const group = await templateGroup(world, { visibility: 'public' })
    const source = await template(world, group, { visibility: 'public', members: [[guest, 'guest']] })
    const set = (level: string) =>
      world.root.put(`/projects/${source.id}`, {
        repository_access_level: level,
        merge_requests_access_level: 'disabled',
        builds_access_level: 'disabled',
      })
    const status = async (who: Client) => (await create(who, { template_name: source.path })).status
    await set('private')
    expect([await status(ann), await status(guest)]).toEqual([400, 201])
    await set('disabled')
    expect([await status(guest), await status(world.root)]).toEqual([400, 400])
  })

  test('a template is found by name or path, in any case, directly in the configured group', async ({ world }) => {
    const group = await templateGroup(world)
    const name = unique('My Template')
    const source = await template(world, group, { name })
    const below = await template(world, await world.group({ parent: group }))
    const elsewhere = await world.project()
    for (const template_name of [name, name.toUpperCase(), source.path])
      expect((await create(world.root, { template_name })).status).toBe(201)
    for (const { id } of [below, elsewhere, { id: 0 }])
      expect(await create(world.root, { template_project_id: id })).toMatchObject(unknown('template_project_id', id))
    for (const template_name of [below.name, '%', `${name}%`])
      expect(await create(world.root, { template_name })).toMatchObject(unknown('template_name', template_name))
    await changeProject(world, source.id, { deleting: true })
    expect(await create(world.root, { template_name: name })).toMatchObject(unknown('template_name', name))
    await world.settings({ custom_project_templates_group_id: null })
    expect(await create(world.root, { template_name: 'x' })).toMatchObject(unknown('template_name', 'x'))
  })

  test('a template can be in a named group or below it', async ({ world }) => {
    await templateGroup(world)
    const group = await world.group()
    const [direct, below] = [await template(world, group), await template(world, await world.group({ parent: group }))]
    for (const { id } of [direct, below]) {
      const parameters = { group_with_project_templates_id: group.id, template_project_id: id }
      expect((await create(world.root, parameters)).status).toBe(201)
      expect(await create(await world.user(), parameters)).toMatchObject(unknown('template_project_id', id))
    }
    const { id: namespaceId } = (await world.root.get('/namespaces/root')).json
    const own = (await world.root.post('/projects', { name: unique('own') })).json
    for (const id of [namespaceId, 999_999_999])
      expect(
        await create(world.root, { group_with_project_templates_id: id, template_project_id: own.id }),
      ).toMatchObject(unknown('template_project_id', own.id))
  })

  test('a project still being created from a template cannot be a template', async ({ world }) => {
    const group = await templateGroup(world)
    const source = await template(world, group)
    const { id } = (await create(world.root, { namespace_id: group.id, template_project_id: source.id })).json
    expect(await create(world.root, { template_project_id: id })).toMatchObject(unknown('template_project_id', id))
    await bringTemplate(world, id)
    expect((await create(world.root, { template_project_id: id })).status).toBe(201)
  })
})

describe('other parameters of project creation', () => {
  const url = 'https://203.0.114.1/a.git'

  test.for([
    [{ import_url: url, template_name: 'x' }, 'import_url, template_name are mutually exclusive'],
    [{ template_name: 'x', template_project_id: 1 }, 'template_name, template_project_id are mutually exclusive'],
    [{ import_url: url, initialize_with_readme: true }, 'initialize_with_readme, import_url are mutually exclusive'],
    [
      { template_name: 'x', initialize_with_readme: true },
      'initialize_with_readme, template_name are mutually exclusive',
    ],
    [{ template_project_id: 1 }, 'use_custom_template is missing'],
    [{ template_name: 'x', group_with_project_templates_id: 1 }, 'use_custom_template is missing'],
    [
      { use_custom_template: true },
      'template_name, template_project_id are missing, at least one parameter must be provided',
    ],
    [
      { use_custom_template: true, import_url: url },
      'template_name, template_project_id are missing, at least one parameter must be provided',
    ],
    [{ template_project_id: 'x' }, 'template_project_id is invalid'],
    [{ template_name: ' ' }, 'template_name is empty'],
  ])('400 for a new project with %j', async ([how, error], { world }) => {
    expect(await world.root.post('/projects', { name: unique('made'), ...(how as object) })).toMatchObject({
      status: 400,
      json: { error },
    })
  })

  test('400 for a built-in template, as there are none', async ({ world }) => {
    const made = await world.root.post('/projects', { name: unique('made'), template_name: 'rails' })
    expect(made).toMatchObject(unknown('template_name', 'rails'))
  })

  test('custom templates are ignored on plans without them', async () => {
    await using world = await World.start({ STITHY_PLAN: 'starter' })
    const source = await template(world, await templateGroup(world))
    const made = await create(world.root, { template_project_id: source.id })
    expect(made).toMatchObject({ status: 201, json: { import_status: 'none' } })
    const named = await create(world.root, { template_name: source.name })
    expect(named).toMatchObject(unknown('template_name', source.name))
  })
})
