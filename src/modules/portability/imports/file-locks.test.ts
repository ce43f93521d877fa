import { expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { exportOf, importOf } from '../testing.ts'

/** A client for the locks of files of a project. */
const locks = (world: World, who: Client, path: string) => {
  const at = `//${path}.git/info/lfs/locks`
  const headers = {
    authorization: `Basic ${Buffer.from(`${who.username}:${who.token}`).toString('base64')}`,
    accept: 'application/vnd.git-lfs+json',
    'content-type': 'application/vnd.git-lfs+json',
  }
  const send = (method: string, below: string, body?: object) =>
    world.anonymous.send(method, at + below, { headers, ...(body && { body: JSON.stringify(body) }) })
  return {
    lock: (file: string) => send('POST', '', { path: file }),
    list: async () => JSON.parse((await send('GET', '')).text).locks,
    unlock: (id: string) => send('POST', `/${id}/unlock`, {}),
  }
}

test('a lock of a file whose owner an import does not find is kept, and belongs to the importer', async ({ world }) => {
  const [ann, zoe] = [await world.user(), await world.user()]
  const project = await storedProject(world, { members: [[ann, 'developer']] })
  project.repository.commit({ 'a.psd': 'a\n' })
  expect((await locks(world, ann, project.full_path).lock('a.psd')).status).toBe(201)
  const copy = await importOf(world, await exportOf(world, project.id), zoe)
  expect(copy.import_status).toBe('finished')
  const ofZoe = locks(world, zoe, (await zoe.get(`/projects/${copy.id}`)).json.path_with_namespace)
  const [kept, ...others] = await ofZoe.list()
  expect(others).toEqual([])
  expect(kept).toMatchObject({ path: 'a.psd', owner: { name: `Name of ${zoe.username}` } })
  expect((await ofZoe.unlock(kept.id)).status).toBe(200)
})
