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

  test('one of several concurrent creations of the same project succeeds', async ({ world }) => {
    const ann = await world.user()
    const answers = await Promise.all(Array.from({ length: 6 }, () => ann.post('/projects', { name: 'Same' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    for (const { status, json } of answers)
      if (status === 400) expect(json.message.path ?? json.message.name).toEqual(taken)
  })
})
