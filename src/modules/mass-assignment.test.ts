import { describe, expect } from 'vitest'
import { projectRow } from '../../test/tables/projects.ts'
import { type Client, test, unique } from '../../test/world.ts'
import type { Level } from '../access/levels.ts'

/** Columns and fields that a caller might try to set, with a value that would show. */
const attempted: Record<string, unknown> = {
  id: 1,
  user_id: 1,
  owner_id: 1,
  creator_id: 1,
  namespace: { id: 1 },
  full_path: 'stolen',
  full_name: 'stolen',
  path_with_namespace: 'stolen/path',
  traversal_ids: [1],
  level: 50,
  admin: true,
  is_admin: true,
  access_token: undefined,
  runners_token: 'chosen',
  created_at: '2001-01-01T00:00:00Z',
  updated_at: '2001-01-01T00:00:00Z',
  last_activity_at: '2001-01-01T00:00:00Z',
  star_count: 999,
  forks_count: 999,
  open_issues_count: 999,
  archived: true,
  deleting: true,
  empty_repo: false,
  import_status: 'finished',
  import_error: 'chosen',
  permissions: { project_access: { access_level: 50 } },
  shared_with_groups: [{ group_id: 1, group_access_level: 50 }],
  forked_from_project: { id: 1 },
  forked_from_project_id: 1,
  marked_for_deletion_on: '2001-01-01',
  marked_for_deletion_at: '2001-01-01',
  repository_storage: '../../etc',
  statistics: { storage_size: 1 },
  custom_attributes: [{ key: 'k', value: 'v' }],
  license_key: 'mit',
  readme_path: '../../etc/passwd',
  settings: { anything: true },
  constructor: { prototype: { admin: true } },
}

/** Fields of a response that no write may change. */
const untouched = (record: Record<string, unknown>) =>
  Object.fromEntries(
    [...Object.keys(attempted), 'web_url', '_links', 'owner', 'parent_id', 'members']
      .filter((name) => name in record && name !== 'updated_at')
      .map((name) => [name, record[name]]),
  )

const json = JSON.stringify({ ...attempted, description: 'changed' })
const asBody = (method: string, who: Client, path: string) =>
  // In the text only: an object literal with `__proto__` would set the prototype.
  who.send(method, path, {
    headers: { 'content-type': 'application/json' },
    body: `{"__proto__":{"admin":true},${json.slice(1)}`,
  })

const levels: readonly Level[] = ['guest', 'developer', 'maintainer', 'owner']

describe('fields that callers cannot set', () => {
  test.for(levels)('read-only fields are unchanged when a %s edits a project', async (level, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, level]] })
    const project = await world.project({ group })
    const before = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
    const edited = await asBody('PUT', ann, `/projects/${project.id}`)
    expect(edited.status).toBe(level === 'maintainer' || level === 'owner' ? 200 : 403)
    const after = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
    expect(untouched(after)).toEqual(untouched(before))
    expect(after.description).toBe(edited.status === 200 ? 'changed' : null)
  })

  test.for(levels)('read-only fields are unchanged when a %s edits a group', async (level, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, level]] })
    const before = (await world.root.get(`/groups/${group.id}`)).json
    const edited = await asBody('PUT', ann, `/groups/${group.id}`)
    expect(edited.status).toBe(level === 'owner' ? 200 : 403)
    const after = (await world.root.get(`/groups/${group.id}`)).json
    expect(untouched(after)).toEqual(untouched(before))
  })

  test('an edit with parent_id or namespace_id does not move a group or project', async ({ world }) => {
    const [group, other] = [await world.group(), await world.group()]
    const project = await world.project({ group })
    await world.root.put(`/groups/${group.id}`, { parent_id: other.id, description: 'x' })
    expect((await world.root.get(`/groups/${group.id}`)).json.parent_id).toBe(null)
    await world.root.put(`/projects/${project.id}`, { namespace_id: other.id, description: 'x' })
    expect((await world.root.get(`/projects/${project.id}`)).json.namespace.id).toBe(group.id)
  })

  test('read-only fields are ignored on creation', async ({ world }) => {
    const ann = await world.user()
    const name = unique('made')
    const project = await ann.post('/projects', { ...attempted, name, path: name })
    expect(project.status).toBe(201)
    expect(project.json).toMatchObject({
      creator_id: ann.id,
      owner: { id: ann.id },
      path_with_namespace: `${ann.username}/${name}`,
      archived: false,
      empty_repo: true,
      star_count: 0,
      import_status: 'none',
      shared_with_groups: [],
      marked_for_deletion_on: null,
      readme_url: null,
    })
    expect(project.json.runners_token).not.toBe('chosen')
    expect(project.json.created_at).not.toMatch(/^2001/)
    const [row] = await projectRow(world, project.json.id, 'repository_storage', 'deleting', 'settings')
    expect(row).toEqual({ repository_storage: 'default', deleting: false, settings: { auto_devops_enabled: true } })
    const group = await ann.post('/groups', { ...attempted, name, path: unique('made') })
    expect(group.status).toBe(201)
    expect(group.json.id).not.toBe(1)
    expect(group.json.runners_token).not.toBe('chosen')
  })

  test('a new user has only declared attributes and is not an administrator', async ({ world }) => {
    const username = unique('made')
    const made = await world.root.post('/users', {
      ...attempted,
      admin: false,
      username,
      name: 'x',
      email: `${username}@example.com`,
      password: 'correct horse',
      state: 'blocked',
      kind: 'ghost',
      password_digest: 'x',
      last_sign_in_at: '2001-01-01',
    })
    expect(made).toMatchObject({
      status: 201,
      json: { state: 'active', is_admin: false, bot: false, last_sign_in_at: null },
    })
    expect(made.json.id).not.toBe(1)
  })

  test('an edit of a member changes only the member of the path', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'guest'],
        [bob, 'guest'],
      ],
    })
    const edited = await world.root.put(`/projects/${project.id}/members/${ann.id}`, {
      access_level: 30,
      user_id: bob.id,
      id: bob.id,
      state: 'blocked',
      username: 'x',
    })
    expect(edited.json).toMatchObject({ id: ann.id, username: ann.username, state: 'active', access_level: 30 })
    expect((await world.root.get(`/projects/${project.id}/members/${bob.id}`)).json.access_level).toBe(10)
  })
})
