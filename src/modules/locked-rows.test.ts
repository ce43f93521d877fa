import { describe, expect } from 'vitest'
import { lockRow } from '../../test/tables/instance.ts'
import { type Answer, test, unique, type World } from '../../test/world.ts'

/** A group, its project, and its owner. */
async function owned(world: World) {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  return { world, ann, group, project: await world.project({ group }) }
}

type Place = Awaited<ReturnType<typeof owned>>

const changes: Record<
  string,
  { of: 'projects' | 'namespaces' | 'users'; id(place: Place): number; change(place: Place): Promise<Answer> }
> = {
  'PUT /projects/:id': {
    of: 'projects',
    id: ({ project }) => project.id,
    change: ({ ann, project }) =>
      ann.put(`/projects/${project.id}`, { name: project.name, path: unique('moved'), visibility: 'private' }),
  },
  'POST /projects/:id/environments': {
    of: 'projects',
    id: ({ project }) => project.id,
    change: ({ ann, project }) => ann.post(`/projects/${project.id}/environments`, { name: 'production' }),
  },
  'POST /projects/:id/share': {
    of: 'projects',
    id: ({ project }) => project.id,
    change: async ({ world, ann, project }) => {
      const other = await world.group({ members: [[ann, 'owner']] })
      return ann.post(`/projects/${project.id}/share`, { group_id: other.id, group_access: 30 })
    },
  },
  'POST /projects/:id/repository/commits': {
    of: 'projects',
    id: ({ project }) => project.id,
    change: ({ ann, project }) =>
      ann.post(`/projects/${project.id}/repository/commits`, {
        ...{ branch: 'main', commit_message: 'Add a' },
        actions: [{ action: 'create', file_path: 'a', content: 'a' }],
      }),
  },
  'PUT /groups/:id': {
    of: 'namespaces',
    id: ({ group }) => group.id,
    change: ({ ann, group }) => ann.put(`/groups/${group.id}`, { name: unique('renamed'), path: unique('renamed') }),
  },
  'POST /groups': {
    of: 'namespaces',
    id: ({ group }) => group.id,
    change: ({ ann, group }) => ann.post('/groups', { name: 'inner', path: 'inner', parent_id: group.id }),
  },
  'DELETE /groups/:id': {
    of: 'namespaces',
    id: ({ group }) => group.id,
    change: ({ ann, group }) => ann.delete(`/groups/${group.id}`),
  },
  'PUT /users/:id': {
    of: 'users',
    id: ({ ann }) => ann.id,
    change: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { name: 'Another name', username: unique('ann') }),
  },
  'POST /users/:id/block': {
    of: 'users',
    id: ({ ann }) => ann.id,
    change: ({ world, ann }) => world.root.post(`/users/${ann.id}/block`),
  },
  'POST /user/emails': {
    of: 'users',
    id: ({ ann }) => ann.id,
    change: ({ ann }) => ann.post('/user/emails', { email: `${unique('ann')}@example.com` }),
  },
}

describe('a change does not wait for a concurrent insert that refers to the changed row', () => {
  test.for(Object.keys(changes))('by %s', async (name, { world }) => {
    const { of, id, change } = changes[name]!
    const place = await owned(world)
    const answer = await world.db.transaction(async (tx) => {
      await lockRow(tx, of, id(place), 'key share')
      return change(place)
    })
    expect(answer.status).toBeLessThan(300)
  })
})

test('a rename of a project, which changes a key, succeeds after such an insert', async ({ world }) => {
  const { ann, project } = await owned(world)
  const renamed = unique('renamed')
  const sent = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id, 'key share')
    return { waiting: ann.put(`/projects/${project.id}`, { name: renamed }) }
  })
  expect(await sent.waiting).toMatchObject({ status: 200, json: { name: renamed } })
})
