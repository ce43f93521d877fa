import { Gitlab } from '@gitbeaker/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await World.start({ STITHY_PLAN: 'premium' })
})
afterAll(() => world[Symbol.asyncDispose]())

test('@gitbeaker/rest manages a project from its group and members to deletion and restore', async () => {
  const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
  const as = ({ token }: { token: string | undefined }) => new Gitlab({ host: world.origin, token: token! })
  const [api, bobs, eves] = [as(ann), as(bob), as(eve)]
  const message = (text: string) => ({ message: expect.stringContaining(text) })

  const group = await api.Groups.create('House', 'house')
  const sub = await api.Groups.create('Kitchen', 'kitchen', { parentId: group.id })
  const project = await api.Projects.create({ name: 'Stove', namespaceId: sub.id, initializeWithReadme: true })
  expect(project).toMatchObject({ path_with_namespace: 'house/kitchen/stove', default_branch: 'master' })

  await api.GroupMembers.add(sub.id, 20, { userId: bob.id })
  expect(await bobs.Projects.show(project.id)).toMatchObject({
    permissions: { group_access: { access_level: 20 }, project_access: null },
  })
  await expect(bobs.Projects.archive(project.id)).rejects.toMatchObject(message('403 Forbidden'))

  const guests = await api.Groups.create('Guests', 'guests')
  await api.GroupMembers.add(guests.id, 30, { userId: eve.id })
  await expect(eves.Projects.show(project.id)).rejects.toMatchObject(message('404 Project Not Found'))
  expect(await api.Projects.share(project.id, guests.id, 20)).toMatchObject({ group_access: 20, group_id: guests.id })
  expect(await eves.Projects.show(project.id)).toMatchObject({ id: project.id })
  expect(await eves.Search.all('blobs', 'stove', { projectId: project.id })).toMatchObject([
    { path: 'README.md', startline: 1, data: expect.stringContaining('# Stove') },
  ])
  await api.Projects.unshare(project.id, guests.id)
  await expect(eves.Projects.show(project.id)).rejects.toMatchObject(message('404 Project Not Found'))

  const file = { content: new Blob(['It burns']), filename: 'note.txt' }
  const upload = await api.Projects.uploadForReference(project.id, file)
  expect(upload).toMatchObject({ alt: 'note.txt', markdown: `[note.txt](${upload.url})` })

  const moved = await api.Projects.transfer(project.id, group.id)
  expect(moved).toMatchObject({ path_with_namespace: 'house/stove' })
  await expect(bobs.Projects.show(project.id)).rejects.toMatchObject(message('404 Project Not Found'))
  expect(await api.Projects.show('house/kitchen/stove')).toMatchObject({ id: project.id })
  expect(await ann.get(`//house/stove${upload.url}`)).toMatchObject({ status: 200, text: 'It burns' })

  expect(await api.Projects.archive(project.id)).toMatchObject({ archived: true })
  await expect(api.Branches.create(project.id, 'late', 'master')).rejects.toMatchObject(message('403 Forbidden'))
  await expect(api.Projects.uploadForReference(project.id, file)).rejects.toMatchObject(message('403 Forbidden'))
  expect(await api.Projects.unarchive(project.id)).toMatchObject({ archived: false })
  expect(await api.Branches.create(project.id, 'late', 'master')).toMatchObject({ name: 'late' })

  await api.Projects.remove(project.id)
  expect(await api.Projects.show(project.id)).toMatchObject({ marked_for_deletion_at: expect.any(String) })
  expect(await api.Projects.restore(project.id)).toMatchObject({ marked_for_deletion_at: null, archived: false })

  await api.Groups.remove(group.id)
  expect(await api.Groups.restore(group.id)).toMatchObject({ id: group.id })
  expect(await api.Projects.show(project.id)).toMatchObject({ path_with_namespace: 'house/stove' })

  const events = await api.Events.all({ projectId: project.id, sort: 'asc' })
  expect(
    events.map(({ action_name, push_data }) => [action_name, (push_data as { ref?: string } | undefined)?.ref]),
  ).toEqual([
    ['created', undefined],
    ['pushed new', 'master'],
    ['pushed new', 'late'],
  ])
})
