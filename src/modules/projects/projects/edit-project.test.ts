import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { projectRow } from '../../../../test/tables/projects.ts'
import { git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { repositoryDir } from '../repositories/location.ts'

const forbidden = { status: 403, json: { message: '403 Forbidden' } }
const taken = ['has already been taken']

describe('PUT /projects/:id', () => {
  test('null restores the default of the service desk, and leaves what cannot be cleared', async ({ world }) => {
    const { id } = await world.project({ initialize_with_readme: true, service_desk_enabled: false })
    const at = `/projects/${id}`
    const { default_branch } = (await world.root.get(at)).json
    expect((await world.root.get(at)).json.service_desk_enabled).toBe(false)
    const cleared = await world.root.put(at, { service_desk_enabled: null, default_branch: null, mirror_user_id: null })
    expect(cleared).toMatchObject({
      status: 200,
      json: { service_desk_enabled: true, default_branch, mirror_user_id: null },
    })
  })

  test('PUT /projects/:id changes only the given attributes and returns the record', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']], merge_method: 'ff', description: 'Before' })
    const sent = {
      description: 'After',
      wiki_access_level: 'disabled',
      issues_access_level: 'private',
      container_registry_enabled: false,
      only_allow_merge_if_pipeline_succeeds: true,
      ci_default_git_depth: 5,
      approvals_before_merge: 1,
      tag_list: ['b', 'a'],
    }
    const edited = await ann.put(`/projects/${project.id}`, sent)
    expect(edited).toMatchObject({
      status: 200,
      json: { ...sent, tag_list: ['a', 'b'], name: project.name, merge_method: 'ff', wiki_enabled: false },
    })
    expect((await ann.get(`/projects/${project.id}`)).json).toEqual(edited.json)
    const [event] = await eventsOf(world, { project: project.id, kind: 'project_updated' }, 'actor_id', 'payload')
    expect(event).toEqual({ actor_id: ann.id, payload: { changed: expect.arrayContaining(Object.keys(sent)) } })
    expect(event.payload.changed).toHaveLength(Object.keys(sent).length)
  })

  test('null clears optional attributes of a project, an empty list clears topics', async ({ world }) => {
    const project = await world.project({
      description: 'x',
      tag_list: ['a'],
      ci_config_path: 'ci.yml',
      ci_default_git_depth: 3,
    })
    const cleared = { description: null, ci_config_path: null, ci_default_git_depth: null }
    expect((await world.root.put(`/projects/${project.id}`, { ...cleared, tag_list: [] })).json).toMatchObject({
      ...cleared,
      tag_list: [],
    })
  })

  test('400 for PUT /projects/:id without a known attribute', async ({ world }) => {
    const project = await world.project()
    for (const sent of [{}, { id: 1 }, { unknown: 'x' }, { archived: true }]) {
      const refused = await world.root.put(`/projects/${project.id}`, sent)
      expect(refused.status).toBe(400)
      expect(refused.json.error).toMatch(
        /^name, path, description, .*default_branch are missing, at least one parameter must be provided$/,
      )
    }
  })

  test('null for an attribute that cannot be cleared changes nothing, alone as with others', async ({ world }) => {
    const project = await world.project()
    const at = `/projects/${project.id}`
    const record = (await world.root.get(at)).json
    for (const sent of [{ name: null }, { path: null, visibility: null }, { issues_enabled: null }])
      expect(await world.root.put(at, sent)).toMatchObject({
        status: 200,
        json: { name: record.name, path: record.path },
      })
    expect((await world.root.put(at, { name: null, description: 'x' })).json).toMatchObject({
      name: record.name,
      description: 'x',
    })
  })

  test.for([
    { who: 'none', status: 404 },
    { who: 'guest', status: 403 },
    { who: 'developer', status: 403 },
    { who: 'maintainer', status: 200 },
  ] as const)('editing a project is for maintainers and up: $who gets $status', async ({ who, status }, { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: who === 'none' ? [] : [[ann, who]] })
    expect((await ann.put(`/projects/${project.id}`, { description: 'x' })).status).toBe(status)
    expect((await world.anonymous.put(`/projects/${project.id}`, { description: 'x' })).status).toBe(401)
  })

  test('only owners change name and visibility, maintainers the path and features', async ({ world }) => {
    const [ann, owner] = [await world.user(), await world.user()]
    const group = await world.group({ visibility: 'public', members: [[owner, 'owner']] })
    const project = await world.project({ group, members: [[ann, 'maintainer']] })
    const one = `/projects/${project.id}`
    expect(await ann.put(one, { name: 'Mine now' })).toMatchObject(forbidden)
    expect(await ann.put(one, { visibility: 'public' })).toMatchObject(forbidden)
    // An unchanged value is no change.
    expect((await ann.put(one, { name: project.name, visibility: 'private' })).status).toBe(200)
    expect((await ann.put(one, { path: unique('moved') })).status).toBe(200)
    expect((await owner.put(one, { name: 'New', visibility: 'public' })).json).toMatchObject({
      name: 'New',
      visibility: 'public',
      name_with_namespace: `${group.path} / New`,
    })
    const mine = (await ann.post('/projects', { name: 'Mine' })).json.id
    expect((await ann.put(`/projects/${mine}`, { name: 'Renamed', visibility: 'internal' })).status).toBe(200)
  })

  test('400 with messages by field for invalid attributes of a project', async ({ world }) => {
    const group = await world.group({ visibility: 'internal' })
    const project = await world.project({ group })
    const other = await world.project({ group })
    for (const [sent, message] of [
      [{ name: 'a/b' }, { name: [expect.stringContaining('can contain only')] }],
      [{ path: 'blob' }, { path: ['blob is a reserved name'] }],
      [{ name: other.name }, { name: taken }],
      [{ path: other.path.toUpperCase() }, { path: taken }],
      [{ path: `${other.path}.wiki` }, { name: taken }],
      [{ description: 'd'.repeat(2001) }, { description: ['is too long (maximum is 2000 characters)'] }],
      [{ visibility: 'public' }, { visibility_level: ['public is not allowed in a internal group.'] }],
      [
        { repository_access_level: 'disabled' },
        {
          merge_requests_access_level: ['cannot have higher visibility level than repository access level'],
          builds_access_level: ['cannot have higher visibility level than repository access level'],
        },
      ],
      [
        { suggestion_commit_message: 's'.repeat(256) },
        { suggestion_commit_message: ['is too long (maximum is 255 characters)'] },
      ],
    ] as const)
      expect(await world.root.put(`/projects/${project.id}`, sent)).toMatchObject({ status: 400, json: { message } })
    expect((await world.root.get(`/projects/${project.id}`)).json).toMatchObject({
      name: project.name,
      path: project.path,
    })
  })
})

describe('default branch', () => {
  test('400 for a default branch that does not exist, else HEAD changes to it', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const refused = (branch: string) => ({
      status: 400,
      json: { message: { base: [`Could not change HEAD: branch '${branch}' does not exist`] } },
    })
    expect(await world.root.put(`/projects/${project.id}`, { default_branch: 'main' })).toMatchObject(refused('main'))
    await git(folder.path, 'init', '-q', '-b', 'main')
    await writeFile(join(folder.path, 'a'), 'a')
    await git(folder.path, 'add', '.')
    await git(folder.path, 'commit', '-qm', 'a')
    await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main', 'main:refs/heads/next')
    for (const branch of ['none', '', '..', '-d', 'a b', 'refs/heads/next'])
      expect(await world.root.put(`/projects/${project.id}`, { default_branch: branch })).toMatchObject(refused(branch))
    expect((await world.root.put(`/projects/${project.id}`, { default_branch: 'next' })).json).toMatchObject({
      default_branch: 'next',
    })
    const head = await git(folder.path, 'ls-remote', '--symref', world.remote(project, world.root), 'HEAD')
    expect(head).toContain('ref: refs/heads/next')
  })

  test('the default branch changes after a crash that left the lock of HEAD, and waits for a lock that is held', async ({
    world,
  }) => {
    const project = await world.project({ initialize_with_readme: true })
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'next', ref: 'master' })
    const { repositoriesDir } = await contextFor(world, null)
    const lock = join(repositoryDir(repositoriesDir, 'default', project.id), 'HEAD.lock')
    await writeFile(lock, '')
    const change = () => world.root.put(`/projects/${project.id}`, { default_branch: 'next' })
    expect((await change()).status).toBe(503)
    await utimes(lock, 0, new Date(Date.now() - 5 * 60_000))
    expect(await change()).toMatchObject({ status: 200, json: { default_branch: 'next' } })
  })
})

describe('changing the path of a project', () => {
  test('a renamed project is found at its old path until another takes it, and emits an event', async ({ world }) => {
    const project = await world.project()
    const [namespace] = project.full_path.split('/')
    const path = unique('moved')
    const old = `/projects/${encodeURIComponent(project.full_path)}`
    expect((await world.root.put(`/projects/${project.id}`, { path })).json).toMatchObject({
      path,
      name: project.name,
      path_with_namespace: `${namespace}/${path}`,
      web_url: `${world.origin}/${namespace}/${path}`,
    })
    expect((await world.root.get(old)).json).toMatchObject({ id: project.id, path })
    expect(await eventsOf(world, { project: project.id, kind: 'project_renamed' })).toHaveLength(1)
    const [renamed] = (await world.root.get(`/audit_events?entity_type=Project&entity_id=${project.id}`)).json
    expect(renamed.details.facts).toMatchObject({ old_full_path: project.full_path, full_path: `${namespace}/${path}` })

    const [{ namespace_id }] = await projectRow(world, project.id, 'namespace_id')
    const taker = await world.root.post('/projects', { path: project.path, name: 'Taker', namespace_id })
    expect(taker.status).toBe(201)
    expect((await world.root.get(old)).json.id).toBe(taker.json.id)
    expect(await world.root.put(`/projects/${project.id}`, { path: project.path })).toMatchObject({
      status: 400,
      json: { message: { path: taken } },
    })
  })

  test('a project can return to its old path, and change only its case', async ({ world }) => {
    const project = await world.project()
    for (const path of [unique('moved'), project.path, project.path.toUpperCase()])
      expect((await world.root.put(`/projects/${project.id}`, { path })).json).toMatchObject({ path })
  })

  test('one of several concurrent changes to the same project path succeeds', async ({ world }) => {
    const group = await world.group()
    const projects = await Promise.all([1, 2, 3].map(() => world.project({ group })))
    const path = unique('wanted')
    const answers = await Promise.all(projects.map(({ id }) => world.root.put(`/projects/${id}`, { path })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  test('projects renamed while their group is renamed have consistent paths', async ({ world }) => {
    const group = await world.group()
    const projects = await Promise.all([1, 2, 3].map(() => world.project({ group })))
    const paths = projects.map(() => unique('moved'))
    const target = unique('group')
    const answers = await Promise.all([
      world.root.put(`/groups/${group.id}`, { path: target }),
      ...projects.map(({ id }, n) => world.root.put(`/projects/${id}`, { path: paths[n] })),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    for (const [n, { id }] of projects.entries()) {
      const fullPath = `${target}/${paths[n]}`
      expect((await world.root.get(`/projects/${encodeURIComponent(fullPath)}`)).json).toMatchObject({
        id,
        path_with_namespace: fullPath,
      })
    }
  })
})

describe('archived projects', () => {
  test('an archived project can be edited and get members', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project()
    await world.archive(project)
    expect((await world.root.put(`/projects/${project.id}`, { description: 'x' })).json).toMatchObject({
      archived: true,
    })
    const member = { user_id: ann.id, access_level: levels.developer }
    expect((await world.root.post(`/projects/${project.id}/members`, member)).status).toBe(201)
  })
})
