import { request } from 'undici'
import { expect, test } from 'vitest'
import { freshEnv, type Service, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

const kills = ['everything', 'stithy worker', 'everything', 'stithy worker', 'everything'] as const

type Change = { cursor: string; kind: string; target_id: number }

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Repeats a request that a kill interrupts, until it has this status. */
async function until(status: number, send: () => Promise<{ status: number; json: any }>): Promise<any> {
  for (;;) {
    const answer = await send().catch(() => undefined)
    if (answer?.status === status) return answer.json
    await pause(50)
  }
}

/** Reads pages after a cursor until one is the last and `isOver`. */
async function readPages(
  service: () => Service,
  after: string,
  isOver: (found: Change[]) => boolean,
): Promise<Change[]> {
  const found: Change[] = []
  for (let cursor = after; ; ) {
    const page = await service()
      .root.get(`/events/changes?after=${cursor}&limit=50`)
      .catch(() => undefined)
    if (page?.status !== 200) {
      await pause(50)
      continue
    }
    found.push(...page.json)
    cursor = page.headers['x-next-cursor']!
    if (page.headers['x-has-more'] === 'true') continue
    if (isOver(found)) return found
    await pause(20)
  }
}

/** Follows the stream as a browser does: whole frames only, and after an interruption from the last id. */
async function followStream(
  service: () => Service,
  after: string,
  isOver: (found: Change[]) => boolean,
): Promise<Change[]> {
  const found: Change[] = []
  let last = after
  const readFrame = (frame: string) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
    last = field('id') ?? last
    const data = field('data')
    if (data !== undefined) found.push(JSON.parse(data))
  }
  while (!isOver(found)) {
    try {
      const { origin, root } = service()
      const stream = await request(`${origin}/api/v4/events/stream`, {
        headers: { accept: 'text/event-stream', 'private-token': root.token!, 'last-event-id': last },
      })
      let text = ''
      for await (const chunk of stream.body) {
        text += chunk
        const frames = text.split('\n\n')
        text = frames.pop()!
        frames.forEach(readFrame)
        if (isOver(found)) break
      }
    } catch {
      // The service was killed.
    }
    await pause(20)
  }
  return found
}

test('a reader with a cursor and one of the stream get each event once, although the service is killed five times', async () => {
  const env = await freshEnv()
  let service = await serve(env)
  const { json: project } = await service.root.post('/projects', { path: 'followed' })
  const at = `/projects/${project.id}/issues`
  const start = (await service.root.get('/events/changes')).headers['x-next-cursor']!

  let isOver = false
  /** The changes of each issue that the service has acknowledged; a kill may hide the answer to one more. */
  const acknowledged = new Map<number, number>()
  const write = async () => {
    while (!isOver) {
      const { id, iid } = await until(201, () => service.root.post(at, { title: 'title 0' }))
      acknowledged.set(id, 0)
      for (let change = 1; change <= 5 && !isOver; change++) {
        await until(200, () => service.root.put(`${at}/${iid}`, { title: `title ${change}` }))
        acknowledged.set(id, change)
      }
    }
  }
  const writers = Promise.all(Array.from({ length: 3 }, write))
  let expected = Number.POSITIVE_INFINITY
  const isComplete = (found: Change[]) => found.length >= expected
  const paged = readPages(() => service, start, isComplete)
  const streamed = followStream(() => service, start, isComplete)
  const count = () => [...acknowledged.values()].reduce((sum, changes) => sum + changes + 1, 0)
  for (const kill of kills) {
    const before = count()
    await eventually(() => expect(count()).toBeGreaterThan(before + 15), 5)
    if (kill === 'everything') {
      service.launched.process.kill('SIGKILL')
      await service.launched.exit
      service = await serve(env)
    } else await service.launched.killNamed(kill)
  }
  isOver = true
  await writers

  // Nothing happens any more: one read of the whole log is what both must have seen.
  const whole = await eventually(async () => {
    const found = await readPages(
      () => service,
      start,
      () => true,
    )
    for (const [id, changes] of acknowledged) {
      const kinds = found.filter(({ target_id, kind }) => target_id === id && kind.startsWith('issue_'))
      expect(kinds.filter(({ kind }) => kind === 'issue_opened')).toHaveLength(1)
      expect(kinds.filter(({ kind }) => kind === 'issue_updated').length).toBeGreaterThanOrEqual(changes)
    }
    return found
  })
  expected = whole.length
  expect(await paged).toEqual(whole)
  expect(await streamed).toEqual(whole)
  expect(new Set(whole.map(({ cursor }) => cursor)).size).toBe(whole.length)
})
