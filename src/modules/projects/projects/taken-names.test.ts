import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'

const taken = ['has already been taken']

describe('taken names of projects', () => {
  test('400 for a name or path taken in the namespace, the path in any case', async ({ world }) => {
    const ann = await world.user()
    await ann.post('/projects', { name: 'Name', path: 'path' })
    const refused = async (sent: object, message: object) =>
      expect(await ann.post('/projects', sent)).toMatchObject({ status: 400, json: { message } })
    await refused({ name: 'Name', path: 'PATH' }, { name: taken, path: taken })
    await refused({ name: 'Name', path: 'other' }, { name: taken })
    await refused({ name: 'Other', path: 'Path' }, { path: taken })
    // The path of the wiki of `path`; and the wiki of `other` would have the path of another project.
    await refused({ name: 'Wiki', path: 'path.wiki' }, { name: taken })
    expect((await ann.post('/projects', { name: 'W', path: 'other.wiki' })).status).toBe(201)
    await refused({ name: 'Other', path: 'Other' }, { name: taken })
    const bob = await world.user()
    expect((await bob.post('/projects', { name: 'Name', path: 'path' })).status).toBe(201)
  })

  test('400 for a project at the path of the wiki of a group', async ({ world }) => {
    const top = await world.group()
    const sub = await world.group({ parent: top })
    const at = { namespace_id: top.id, name: 'Notes', path: `${sub.path}.wiki` }
    expect(await world.root.post('/projects', at)).toMatchObject({ status: 400, json: { message: { name: taken } } })
  })

  test('400 for a group whose wiki would be at the path of a project', async ({ world }) => {
    const [top, elsewhere] = [await world.group(), await world.group()]
    const sub = await world.group({ parent: top })
    const project = await world.project({ group: top, path: 'notes.wiki' })
    const refused = (answer: object, message: unknown) =>
      expect(answer).toMatchObject({ status: 400, json: { message } })
    const notes = { name: 'notes', path: 'Notes' }
    refused(
      await world.root.post('/groups', { ...notes, parent_id: top.id }),
      'Failed to save group {:path=>["has already been taken"]}',
    )
    refused(await world.root.put(`/groups/${sub.id}`, notes), { path: taken })
    const outside = (await world.root.post('/groups', { ...notes, parent_id: elsewhere.id })).json
    refused(
      await world.root.post(`/groups/${outside.id}/transfer`, { group_id: top.id }),
      'Transfer failed: The parent group already has a subgroup or a project with the same path.',
    )
    expect((await world.root.put(`/projects/${project.id}`, { description: 'Still to be edited' })).status).toBe(200)
    // A former path of a project is free.
    await world.root.put(`/projects/${project.id}`, { path: 'notes' })
    await world.root.put(`/projects/${project.id}`, { path: 'other' })
    expect((await world.root.put(`/groups/${sub.id}`, notes)).json.full_path).toBe(`${top.full_path}/Notes`)
  })

  test('one of several concurrent creations of the same project succeeds', async ({ world }) => {
    const ann = await world.user()
    const answers = await Promise.all(Array.from({ length: 6 }, () => ann.post('/projects', { name: 'Same' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    for (const { status, json } of answers)
      if (status === 400) expect(json.message.path ?? json.message.name).toEqual(taken)
  })
})
