import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../test/world.ts'
import { openMergeRequest } from '../../modules/review/merge-requests/testing.ts'
import { type AnswerInWork, AnswersInWork } from './answers-in-work.ts'

const mebibyte = 1024 * 1024
const limits = {
  usual: 3,
  heavy: 1,
  heavyBytes: 4 * mebibyte,
  heavyForMs: 60_000,
  keptBytes: mebibyte,
  waiting: 4,
}

/** Requests of one caller; `made` has those that may make their answer. */
function requests(answers: AnswersInWork, caller: string, count: number, signal?: AbortSignal) {
  const made: AnswerInWork[] = []
  const all = Array.from({ length: count }, () =>
    answers.enter(caller, 'list', signal).then((work) => {
      made.push(work)
    }),
  )
  return { made, all }
}

describe('answers that a process makes at a time', () => {
  test('a caller makes as many as the limit; others and other kinds do not wait', async () => {
    const answers = new AnswersInWork(limits)
    const { made } = requests(answers, 'ann', 6)
    await turn()
    expect(made).toHaveLength(3)
    await answers.enter('bob', 'list')
    await answers.enter('ann', 'content')
    expect(made[0]!.made(100)).toBe(false)
    made[0]!.release()
    await turn()
    expect(made).toHaveLength(4)
  })

  test('after a large answer the caller makes one at a time, which counts until it is sent', async () => {
    const answers = new AnswersInWork(limits)
    const { made } = requests(answers, 'ann', 6)
    await turn()
    for (const work of made) expect(work.made(5 * mebibyte)).toBe(true)
    made[0]!.release()
    made[1]!.release()
    await turn()
    expect(made).toHaveLength(3)
    made[2]!.release()
    await turn()
    expect(made).toHaveLength(4)
    const others = requests(answers, 'bob', 3)
    await turn()
    expect(others.made).toHaveLength(3)
  })

  test('waiting requests are bounded, and leave when their client does', async () => {
    const answers = new AnswersInWork(limits)
    const abort = new AbortController()
    const first = requests(answers, 'ann', 3)
    await Promise.all(first.all)
    const waiting = requests(answers, 'ann', 4, abort.signal)
    const left = Promise.allSettled(waiting.all)
    await expect(answers.enter('ann', 'list')).rejects.toMatchObject({ kind: 'rate_limited' })
    abort.abort(new Error('gone'))
    expect((await left).map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    const next = answers.enter('ann', 'list')
    first.made[0]!.release()
    await next
  })
})

/** A request whose answer the client does not read. */
async function unread({ origin }: World, { token }: Client, path: string, query?: string): Promise<{ socket: Socket }> {
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.on('error', () => {})
  const head = `host: x\r\nprivate-token: ${token}\r\n`
  const body = JSON.stringify({ query })
  socket.write(
    query === undefined
      ? `GET /api/v4${path} HTTP/1.1\r\n${head}\r\n`
      : `POST ${path} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return { socket }
}

/** A list of fourteen megabytes in a public project, and four requests for it whose answers the client does not read. */
async function unreadLists(world: World, ann: Client) {
  const { id } = (await ann.post('/projects', { name: unique('large'), visibility: 'public' })).json
  const description = 'x'.repeat(1_000_000)
  for (let index = 0; index < 14; index++) await ann.post(`/projects/${id}/issues`, { title: 'Large', description })
  const path = `/projects/${id}/issues?per_page=100`
  const clients = await Promise.all(Array.from({ length: 4 }, () => unread(world, ann, path)))
  await Promise.all(clients.map(({ socket }) => once(socket, 'readable')))
  return { path, clients }
}

describe('large lists of one caller', () => {
  test('clients that do not read large lists hold four of them; others are served, and the next one once they are gone', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { path, clients } = await unreadLists(world, ann)
    let isAnswered = false
    const next = ann.get(path).finally(() => {
      isAnswered = true
    })
    // Each takes as long as the answer that waits would.
    for (let index = 0; index < 5; index++) expect(await bob.get(path)).toMatchObject({ status: 200 })
    expect(await ann.get('/user')).toMatchObject({ status: 200 })
    expect(isAnswered).toBe(false)
    for (const { socket } of clients) socket.destroy()
    expect(await next).toMatchObject({ status: 200 })
  })

  test('clients that do not read large answers to queries hold four of them; others are served', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { project, iid } = await openMergeRequest(world, { description: 'x'.repeat(1_000_000) })
    const fields = Array.from({ length: 14 }, (_, index) => `a${index}: mergeRequest(iid: "${iid}") { description }`)
    const query = `{ project(fullPath: "${project.full_path}") { ${fields.join(' ')} } }`
    const asked = (who: Client) =>
      fetch(`${world.origin}/api/graphql`, {
        method: 'POST',
        headers: { 'private-token': who.token!, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }).then(async (answer) => (await answer.text()).length)
    const clients = await Promise.all(Array.from({ length: 4 }, () => unread(world, ann, '/api/graphql', query)))
    await Promise.all(clients.map(({ socket }) => once(socket, 'readable')))
    let isAnswered = false
    const next = asked(ann).finally(() => {
      isAnswered = true
    })
    for (let index = 0; index < 5; index++) expect(await asked(bob)).toBeGreaterThan(14_000_000)
    expect(isAnswered).toBe(false)
    for (const { socket } of clients) socket.destroy()
    expect(await next).toBeGreaterThan(14_000_000)
  })

  test('a list that waits is refused if the token is revoked meanwhile', async ({ world }) => {
    const ann = await world.user()
    const { path, clients } = await unreadLists(world, ann)
    const next = ann.get(path)
    // It has been admitted when a later request of the same client is answered.
    for (let index = 0; index < 3; index++) expect((await ann.get('/user')).status).toBe(200)
    await ann.delete('/personal_access_tokens/self')
    for (const { socket } of clients) socket.destroy()
    expect(await next).toMatchObject({ status: 401 })
  })
})
