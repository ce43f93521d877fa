import { expect } from 'vitest'
import { beginRequest } from '../../../test/begun-request.ts'
import { splitUpload } from '../../../test/tables/registry.ts'
import { test } from '../../../test/world.ts'
import { imageAt, octets, Registry } from './testing.ts'

test('413 for the part after the ten thousandth of an upload, of which nothing is stored', async ({ world }) => {
  const registry = await Registry.open(world.root, imageAt(await world.project()))
  const { headers } = await registry.send('POST', 'blobs/uploads/')
  const upload = headers['location']!
  await splitUpload(world, headers['docker-upload-uuid']!, 9_999)
  const extend = () => registry.send('PATCH', upload, { body: 'x', headers: octets })
  expect(await extend()).toMatchObject({ status: 202, headers: { range: '0-9999' } })
  expect(await extend()).toMatchObject({
    status: 413,
    json: { errors: [{ code: 'SIZE_INVALID', message: 'The upload has 10000 parts' }] },
  })
  expect((await registry.send('GET', upload)).headers['range']).toBe('0-9999')
})

test('400 for a part of unknown length that is not as long as its range, of which nothing is stored', async ({
  world,
}) => {
  const registry = await Registry.open(world.root, imageAt(await world.project()))
  const upload = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
  const extend = async (range: string) => {
    const headers = { ...octets, authorization: `Bearer ${registry.token}`, 'content-range': range }
    const sent = beginRequest(`${world.origin}${upload}`, { method: 'PATCH', headers })
    await sent.begun
    const { status } = await sent.complete('12345')
    return { status, range: (await registry.send('GET', upload)).headers['range'] }
  }
  for (const range of ['0-9', '0-1']) expect(await extend(range)).toEqual({ status: 400, range: '0-0' })
  expect(await extend('0-4')).toEqual({ status: 202, range: '0-4' })
})
