import { expect } from 'vitest'
import { Client, test, unique, type World } from '../../../test/world.ts'
import { digestOf, imageAt, missing, ociManifest, Registry } from './testing.ts'

/** A registry client with a deploy token of the project that has only the scope `write_registry`. */
async function writerOf(world: World, project: { id: number; full_path: string }, actions = 'pull,push') {
  const scopes = ['write_registry']
  const { username, token } = (await world.root.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes }))
    .json
  return Registry.open(new Client(world.origin, { id: 0, username, token }), imageAt(project), actions)
}

test('a client with only the scope write_registry pushes an image and finds what exists, and cannot read it', async ({
  world,
}) => {
  const project = await world.project()
  const registry = await writerOf(world, project)
  const status = async (method: string, path: string) => (await registry.send(method, path)).status
  expect([await status('HEAD', `blobs/${missing}`), await status('HEAD', 'manifests/new')]).toEqual([404, 404])
  const layer = unique('layer')
  const manifest = JSON.stringify(await registry.manifestOf({ layer }))
  const blob = `blobs/${digestOf(layer)}`
  expect(await status('HEAD', blob)).toBe(200)
  expect((await registry.putManifest('new', manifest)).status).toBe(201)
  expect(await registry.send('HEAD', 'manifests/new')).toMatchObject({
    status: 200,
    text: '',
    headers: { 'docker-content-digest': digestOf(manifest), 'content-type': ociManifest },
  })
  for (const path of [blob, 'manifests/new', 'tags/list', `referrers/${missing}`])
    expect(await status('GET', path), path).toBe(401)
  expect(await status('HEAD', 'tags/list')).toBe(401)
  expect(await status('DELETE', 'manifests/new')).toBe(401)
})

test('a token for pulls only, of an account that may only push, finds nothing', async ({ world }) => {
  const project = await world.project()
  const registry = await writerOf(world, project, 'pull')
  for (const path of [`blobs/${missing}`, 'manifests/new'])
    expect(await registry.send('HEAD', path)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining(`scope="repository:${registry.name}:pull"`) },
    })
})
