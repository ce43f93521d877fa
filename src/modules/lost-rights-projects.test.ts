import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow } from '../../test/tables/instance.ts'
import { lockProject } from '../../test/tables/projects.ts'
import { type Answer, type Client, test, unique } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { lockToken } from './accounts/tokens/queries.ts'
import { lockGroup } from './groups/index.ts'
import { lockQueue } from './integrations/deliveries/expand-queries.ts'
import { lockHook } from './integrations/hooks/queries.ts'
import { lockForkRelations } from './lifecycle/forks/queries.ts'
import { lockPushRule } from './pushes/push-rules/queries.ts'

/** What a maintainer gives away, or creates to act later, in a project. */
const gifts: Record<string, (ann: Client, at: string) => Promise<Answer>> = {
  'POST hooks': (ann, at) => ann.post(`${at}/hooks`, { url: 'https://93.184.216.34/' }),
  'POST remote_mirrors': (ann, at) =>
    ann.post(`${at}/remote_mirrors`, { url: 'https://93.184.216.34/a.git', enabled: true }),
  'PUT services/slack': (ann, at) => ann.put(`${at}/services/slack`, { webhook: 'https://93.184.216.34/' }),
  'POST approval_rules': (ann, at) =>
    ann.post(`${at}/approval_rules`, { name: 'rule', approvals_required: 0, user_ids: [ann.id] }),
  'POST approvals': (ann, at) => ann.post(`${at}/approvals`, { reset_approvals_on_push: false }),
  'POST deploy_keys': (ann, at) => ann.post(`${at}/deploy_keys`, { title: 'key', key: newPublicKey(), can_push: true }),
  'POST deploy_tokens': (ann, at) => ann.post(`${at}/deploy_tokens`, { name: 'token', scopes: ['read_repository'] }),
  'POST protected_tags': (ann, at) => ann.post(`${at}/protected_tags`, { name: 'v*', create_access_level: 30 }),
  'POST push_rule': (ann, at) => ann.post(`${at}/push_rule`, { deny_delete_tag: false }),
  'POST export': (ann, at) =>
    ann.post(`${at}/export`, { upload: { url: 'https://93.184.216.34/', http_method: 'PUT' } }),
}

type Edit = {
  make(ann: Client, at: string): Promise<Answer>
  edit(ann: Client, at: string, id: number): Promise<Answer>
  lock(tx: Tx, projectId: number, id: number): Promise<unknown>
}

/** The same for what exists, with the row that a change of it waits for. */
const edits: Record<string, Edit> = {
  'PUT hooks': {
    make: gifts['POST hooks']!,
    edit: (ann, at, id) => ann.put(`${at}/hooks/${id}`, { url: 'https://93.184.216.35/' }),
    lock: (tx, of, id) => lockHook(tx, { of: 'project', id: of }, id),
  },
  'PUT remote_mirrors': {
    make: gifts['POST remote_mirrors']!,
    edit: (ann, at, id) => ann.put(`${at}/remote_mirrors/${id}`, { enabled: true }),
    lock: lockProject,
  },
  'PUT push_rule': {
    make: gifts['POST push_rule']!,
    edit: (ann, at) => ann.put(`${at}/push_rule`, { deny_delete_tag: true }),
    lock: (tx, id) => lockPushRule(tx, { of: 'project', id }),
  },
  'DELETE push_rule': {
    make: gifts['POST push_rule']!,
    edit: (ann, at) => ann.delete(`${at}/push_rule`),
    lock: (tx, id) => lockPushRule(tx, { of: 'project', id }),
  },
  'DELETE remote_mirrors': {
    make: gifts['POST remote_mirrors']!,
    edit: (ann, at, id) => ann.delete(`${at}/remote_mirrors/${id}`),
    lock: (tx, _, id) => lockRow(tx, 'push_mirrors', id),
  },
  'POST remote_mirrors/:id/sync': {
    make: (ann, at) => ann.post(`${at}/remote_mirrors`, { url: 'https://93.184.216.34/a.git', enabled: true }),
    edit: (ann, at, id) => ann.post(`${at}/remote_mirrors/${id}/sync`),
    lock: (tx, _, id) => lockRow(tx, 'push_mirrors', id),
  },
  'DELETE integrations': {
    make: async (ann, at) => ({
      ...(await ann.put(`${at}/integrations/slack`, { webhook: 'https://93.184.216.34/' })),
      status: 201,
    }),
    edit: (ann, at) => ann.delete(`${at}/integrations/slack`),
    lock: (tx, _, id) => lockRow(tx, 'hooks', id),
  },
  'POST hooks/:id/replay': {
    make: gifts['POST hooks']!,
    edit: (ann, at, id) => ann.post(`${at}/hooks/${id}/replay`, { since: new Date().toISOString() }),
    lock: lockQueue,
  },
  'POST access_tokens/:id/rotate': {
    make: (ann, at) => ann.post(`${at}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: 40 }),
    edit: (ann, at, id) => ann.post(`${at}/access_tokens/${id}/rotate`),
    lock: (tx, _, id) => lockToken(tx, id),
  },
  'POST deploy_keys/:id/enable': {
    make: async (ann) => {
      const own = (await ann.post('/projects', { name: unique('own') })).json
      return ann.post(`/projects/${own.id}/deploy_keys`, { title: 'key', key: newPublicKey() })
    },
    edit: (ann, at, id) => ann.post(`${at}/deploy_keys/${id}/enable`),
    lock: lockProject,
  },
}

const creations: Record<string, (ann: Client, groupId: number, sourceId: number) => Promise<Answer>> = {
  'POST /projects': (ann, id) => ann.post('/projects', { name: unique('new'), namespace_id: id }),
  'POST /projects/:id/fork': (ann, id, sourceId) =>
    ann.post(`/projects/${sourceId}/fork`, { namespace_id: id, path: unique('fork') }),
  'POST /projects/remote-import': (ann, id) =>
    ann.post('/projects/remote-import', { url: 'https://93.184.216.34/a', path: unique('new'), namespace: id }),
}

describe('a project that waits for its group is refused', () => {
  test.for(Object.keys(creations))('by %s to a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const source = await world.project({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations[name]!(ann, group.id, source.id),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(400)
  })

  test('as a fork to a user who may not read the source any more', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const source = await world.project({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations['POST /projects/:id/fork']!(ann, group.id, source.id),
      () => world.root.delete(`/projects/${source.id}/members/${ann.id}`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(404)
  })

  test('to a user who was blocked meanwhile', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations['POST /projects']!(ann, group.id, 0),
      () => world.root.post(`/users/${ann.id}/block`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(403)
  })
})

describe('a request whose caller loses the right while it waits for a row', () => {
  test.for(Object.keys(gifts))('404 to %s of a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const project = await world.project({ group })
    const answer = await answerDuring(
      world,
      () => gifts[name]!(ann, `/projects/${project.id}`),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lockProject(tx, project.id),
    )
    expect(answer.status).toBe(404)
  })

  test.for(Object.keys(edits))('404 to %s of a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const at = `/projects/${(await world.project({ group })).id}`
    const { make, edit, lock } = edits[name]!
    const made = await make(ann, at)
    expect(made.status).toBe(201)
    const answer = await answerDuring(
      world,
      () => edit(ann, at, made.json.id),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lock(tx, Number(at.slice('/projects/'.length)), made.json.id),
    )
    expect(answer.status).toBe(404)
  })

  test.for(['renames', 'deletes', 'unlinks'])(
    '404 to an owner who %s a project and was removed meanwhile',
    async (what, { world }) => {
      const ann = await world.user()
      const group = await world.group({ members: [[ann, 'owner']] })
      const project = await world.project({ group })
      const at = `/projects/${project.id}`
      if (what === 'unlinks') {
        const source = await world.project()
        expect((await world.root.post(`${at}/fork/${source.id}`)).status).toBe(201)
      }
      const answer = await answerDuring(
        world,
        () =>
          what === 'renames'
            ? ann.put(at, { name: unique('renamed') })
            : ann.delete(what === 'deletes' ? at : `${at}/fork`),
        () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
        (tx) => lockProject(tx, project.id),
      )
      expect(answer.status).toBe(404)
      expect((await world.root.get(at)).json).toMatchObject({ name: project.name, marked_for_deletion_on: null })
    },
  )

  test.for(['project', 'source'])(
    '404 to the fork relation of a %s that the caller has left',
    async (left, { world }) => {
      const ann = await world.user()
      const [group, other] = [
        await world.group({ members: [[ann, 'owner']] }),
        await world.group({ members: [[ann, 'owner']] }),
      ]
      const [project, source] = [await world.project({ group }), await world.project({ group: other })]
      const answer = await answerDuring(
        world,
        () => ann.post(`/projects/${project.id}/fork/${source.id}`),
        () => world.root.delete(`/groups/${(left === 'project' ? group : other).id}/members/${ann.id}`),
        lockForkRelations,
      )
      expect(answer.status).toBe(404)
    },
  )

  test('403 to a mirror of a project that was archived while the request waited', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']] })
    const at = `/projects/${(await world.project({ group })).id}`
    const answer = await answerDuring(
      world,
      () => ann.put(at, { mirror: true, import_url: 'https://93.184.216.34/a.git' }),
      () => world.root.post(`${at}/archive`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(403)
  })

  test('403 to an owner who changes the visibility of a project and was made a maintainer meanwhile', async ({
    world,
  }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']], visibility: 'public' })
    const project = await world.project({ group })
    const answer = await answerDuring(
      world,
      () => ann.put(`/projects/${project.id}`, { visibility: 'public' }),
      () => world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 40 }),
      (tx) => lockProject(tx, project.id),
    )
    expect(answer.status).toBe(403)
  })
})
