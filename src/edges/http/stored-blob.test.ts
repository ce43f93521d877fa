import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { test, unique, type World } from '../../../test/world.ts'
import { basic, batch, follow, oidOf, upload } from '../../modules/pushes/large-files/testing.ts'
import { imageAt, Registry } from '../registry/testing.ts'

/** Cuts off the end of a stored file, as a damaged disk may. */
const cut = (world: World, content: string): Promise<void> => {
  const oid = oidOf(content)
  return truncate(join(fileURLToPath(world.config.blobUrl), 'sha256', oid.slice(0, 2), oid.slice(2, 4), oid), 5)
}

test('404 for a layer whose file has lost bytes, until it is pushed again', async ({ world }) => {
  const registry = await Registry.open(world.root, imageAt(await world.project()))
  const content = unique('a layer')
  const digest = await registry.push(content)
  await cut(world, content)
  expect(await registry.send('HEAD', `blobs/${digest}`)).toMatchObject({ status: 404 })
  expect(await registry.send('GET', `blobs/${digest}`)).toMatchObject({ status: 404 })
  await registry.push(content)
  expect(await registry.send('GET', `blobs/${digest}`)).toMatchObject({ status: 200, text: content })
})

test('500 for a large file that has lost bytes, until it is uploaded again', async ({ world }) => {
  const project = await world.project()
  const content = unique('a large file')
  await upload(world.root, project, content)
  await cut(world, content)
  const url = `//${project.full_path}.git/gitlab-lfs/objects/${oidOf(content)}`
  const get = () => world.root.send('GET', url, { headers: basic(world.root) })
  expect(await get()).toMatchObject({ status: 500 })
  const [asked] = (await batch(world.root, project, 'upload', [content])).json.objects
  expect((await follow(world.root, 'PUT', asked.actions.upload, content)).status).toBe(200)
  expect(await get()).toMatchObject({ status: 200, text: content })
  expect((await batch(world.root, project, 'upload', [content])).json.objects[0]).not.toHaveProperty('actions')
})
