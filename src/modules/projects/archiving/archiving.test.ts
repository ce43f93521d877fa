import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { test } from '../../../../test/world.ts'
import { lockProject } from '../projects/edit-queries.ts'
import { removeMarkedProjects, removeProject } from '../projects/jobs.ts'

describe('archiving', () => {
  test('D2-ARCHIVE-SETS-FLAG, D2-ARCHIVE-IDEMPOTENT, D2-UNARCHIVE-IDEMPOTENT: one event each', async ({ world }) => {
    const project = await world.project()
    const call = (verb: string) => world.root.post(`/projects/${project.id}/${verb}`)
    for (const verb of ['unarchive', 'archive', 'archive', 'unarchive', 'unarchive'])
      expect(await call(verb)).toMatchObject({
        status: 201,
        json: { id: project.id, archived: verb === 'archive' },
      })
    const events = await eventsOf(world, { project: project.id, kind: 'project_%archived' }, 'kind')
    expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(['project_archived', 'project_unarchived'])
  })

  test.for([
    ['none', 404],
    ['maintainer', 403],
    ['owner', 201],
  ] as const)('D2-ARCHIVE-CALLERS: archiving is for owners and up: %s gets %i', async ([who, status], { world }) => {
    const ann = await world.user()
    const project = await world.project({ group: await world.group({ members: who === 'none' ? [] : [[ann, who]] }) })
    for (const verb of ['archive', 'unarchive']) {
      expect((await ann.post(`/projects/${project.id}/${verb}`)).status).toBe(status)
      expect((await world.anonymous.post(`/projects/${project.id}/${verb}`)).status).toBe(401)
      expect((await world.root.post(`/projects/${project.id}/${verb}`)).status).toBe(201)
    }
  })

  test('an archived project can be read but not written', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    await world.root.post(`/projects/${project.id}/archive`)
    const file = `/projects/${project.id}/repository/files/README.md`
    expect((await world.root.get(`${file}?ref=master`)).status).toBe(200)
    const write = { branch: 'master', content: 'x', commit_message: 'x' }
    expect((await world.root.put(file, write)).status).toBe(403)
    await world.root.post(`/projects/${project.id}/unarchive`)
    expect((await world.root.put(file, write)).status).toBe(200)
  })
})

describe('POST /projects/:id/restore', () => {
  test('D2-RESTORE: restoring removes the deletion mark, and the project stays', async ({ world }) => {
    const project = await world.project()
    const restore = () => world.root.post(`/projects/${project.id}/restore`)
    expect(await restore()).toMatchObject({ status: 400, json: { message: 'Project is not marked for deletion' } })
    await world.root.delete(`/projects/${project.id}`)
    await changeProject(world, project.id, { marked_for_deletion_on: daysAgo(30) })
    expect(await restore()).toMatchObject({
      status: 201,
      json: { archived: false, marked_for_deletion_at: null, marked_for_deletion_on: null },
    })
    await removeMarkedProjects.run({}, await contextFor(world, null))
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test('403 for restoring a project unless the caller is an owner, 404 once it is removed', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({
      members: [
        [ann, 'owner'],
        [bob, 'maintainer'],
      ],
    })
    const project = await world.project({ group })
    await ann.delete(`/projects/${project.id}`)
    const restore = `/projects/${project.id}/restore`
    expect((await world.anonymous.post(restore)).status).toBe(401)
    expect((await bob.post(restore)).status).toBe(403)
    expect((await ann.post(restore)).status).toBe(201)
    await changeProject(world, project.id, { deleting: true })
    expect((await ann.post(restore)).status).toBe(404)
  })

  test.for(['restored', 'removed'] as const)(
    'a project that is restored and due is %s if that is first',
    async (first, { world }) => {
      const project = await world.project()
      await world.root.delete(`/projects/${project.id}`)
      await changeProject(world, project.id, { marked_for_deletion_on: daysAgo(30) })
      const ctx = await contextFor(world, null)
      const restore = () => world.root.post(`/projects/${project.id}/restore`)
      const remove = () => removeMarkedProjects.run({}, ctx)
      const sent = await world.db.transaction(async (tx) => {
        await lockProject(tx, project.id)
        const restored = first === 'restored' ? restore() : undefined
        if (restored) await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
        const removed = remove()
        await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(restored ? 2 : 1)
        const late = restored ?? restore()
        await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(2)
        return { late, removed }
      })
      await sent.removed
      expect((await sent.late).status).toBe(first === 'restored' ? 201 : 404)
      await removeProject.run({ projectId: project.id }, ctx)
      expect((await world.root.get(`/projects/${project.id}`)).status).toBe(first === 'restored' ? 200 : 404)
      expect((await eventsOf(world, { project: project.id, kind: 'project_restored' })).length).toBe(
        first === 'restored' ? 1 : 0,
      )
    },
  )
})
