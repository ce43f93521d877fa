import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Client as Connection } from 'undici'
import { expect, test } from 'vitest'
import { digestOf, Registry } from '../../src/edges/registry/testing.ts'
import { toEachWorker } from '../each-worker.ts'
import { freshEnv, serve } from '../service.ts'
import { Client } from '../world.ts'

const chunkOf = (letter: string): string => letter.repeat(50_000)

/** A body whose end the test decides. */
function slowBody(begin: string) {
  const rest = Promise.withResolvers<string>()
  const body = Readable.from(
    (async function* () {
      yield begin
      yield await rest.promise
    })(),
    { objectMode: false },
  )
  return { body, complete: rest.resolve }
}

test('uploads of image layers whose chunks go to two workers are complete or refused, also when a worker is killed', async () => {
  const env = { ...(await freshEnv()), STITHY_PROCESSES: '2', STITHY_LOG_LEVEL: 'info' }
  const { launched, origin, root } = await serve(env)
  await root.post('/projects', { path: 'images' })
  const who = new Client(origin, { id: 1, username: 'root', token: root.token! })
  const { token } = await Registry.open(who, 'root/images')
  const send = async (to: Connection, method: string, path: string, body?: string | Readable, from?: number) => {
    const length = typeof body === 'string' ? body.length : 0
    const range = from === undefined ? {} : { 'content-range': `${from}-${from + length - 1}` }
    const answer = await to.request({
      method: method as 'GET',
      path,
      body: body ?? null,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', ...range },
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, range: answer.headers['range'], at: String(answer.headers['location']), text }
  }
  const blob = (to: Connection, digest: string) => send(to, 'GET', `/v2/root/images/blobs/${digest}`)
  const begin = async (to: Connection) => (await send(to, 'POST', '/v2/root/images/blobs/uploads/')).at
  const files = async () => readdir(join(env.STITHY_DATA_DIR, 'registry', 'uploads')).catch(() => [])
  const workers = await toEachWorker(launched, origin)
  expect(workers.size).toBe(2)
  const [[doomed, one], [, other]] = [...workers] as [[number, Connection], [number, Connection]]

  // In turns.
  const parts = ['a', 'b', 'c', 'd'].map(chunkOf)
  const turns = await begin(one)
  for (const [n, part] of parts.entries())
    expect((await send(n % 2 === 0 ? other : one, 'PATCH', turns, part, n * 50_000)).status).toBe(202)
  const whole = digestOf(parts.join(''))
  expect((await send(one, 'PUT', `${turns}?digest=${whole}`)).status).toBe(201)
  expect((await blob(other, whole)).text).toBe(parts.join(''))

  // The same range at once: one of the chunks.
  const raced = await begin(one)
  const both = await Promise.all([
    send(one, 'PATCH', raced, chunkOf('1'), 0),
    send(other, 'PATCH', raced, chunkOf('2'), 0),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual([202, 416])
  const won = chunkOf(both[0]!.status === 202 ? '1' : '2')
  // And completed at once: both clients get the blob.
  const ends = await Promise.all([one, other].map((to) => send(to, 'PUT', `${raced}?digest=${digestOf(won)}`)))
  expect(ends.map(({ status }) => status)).toEqual([201, 201])
  expect((await blob(one, digestOf(won))).text).toBe(won)

  // Cancelled while a chunk arrives at the other worker.
  const cancelled = await begin(one)
  expect((await send(one, 'PATCH', cancelled, chunkOf('x'))).status).toBe(202)
  const slow = slowBody('begin')
  const late = send(other, 'PATCH', cancelled, slow.body)
  await expect.poll(async () => (await files()).length).toBe(2)
  expect((await send(one, 'DELETE', cancelled)).status).toBe(204)
  slow.complete('end')
  expect((await late).status).toBe(404)
  expect(await files()).toEqual([])

  // A worker is killed while a chunk arrives there.
  const killed = await begin(other)
  expect((await send(other, 'PATCH', killed, chunkOf('k'), 0)).status).toBe(202)
  const cut = slowBody('begin')
  const lost = send(one, 'PATCH', killed, cut.body).then(
    ({ status }) => status,
    () => 'cut',
  )
  await expect.poll(async () => (await files()).length).toBe(2)
  process.kill(doomed, 'SIGKILL')
  cut.complete('end')
  expect(await lost).toBe('cut')
  expect((await send(other, 'GET', killed)).range).toBe('0-49999')
  expect((await send(other, 'PATCH', killed, chunkOf('l'), 50_000)).status).toBe(202)
  const resumed = chunkOf('k') + chunkOf('l')
  expect((await send(other, 'PUT', `${killed}?digest=${digestOf(resumed)}`)).status).toBe(201)
  expect((await blob(other, digestOf(resumed))).text).toBe(resumed)
  // `tidyContainerUploads` removes the file of the killed worker a day later.
  expect(await files()).toHaveLength(1)
})
