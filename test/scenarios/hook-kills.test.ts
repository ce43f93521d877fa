import { expect, test } from 'vitest'
import { HookReceiver } from '../hook-receiver.ts'
import { freshEnv, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

const issues = 60
const changes = 20

/** A number from 0 to 1 that depends on the text only. */
function fraction(text: string): number {
  let hash = 2_166_136_261
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0
  return hash / 2 ** 32
}

test('a receiver that fails, hangs and restarts gets every event in order, although the service is killed several times', {
  timeout: 580_000,
}, async () => {
  const env = await freshEnv()
  let service = await serve(env)
  await using receiver = await HookReceiver.start()
  /** Titles in the order in which the receiver accepted them, by issue. */
  const accepted = new Map<number, string[]>()
  const keys = new Map<string, Set<string>>()
  const seen = new Set<string>()
  receiver.answering = ({ json, headers }, response) => {
    const { id, title } = json.object_attributes
    const key = String(headers['idempotency-key'])
    const named = `${id} ${title}`
    keys.set(named, (keys.get(named) ?? new Set()).add(key))
    const isFirst = !seen.has(key)
    seen.add(key)
    // Of the first attempts, 30 % fail and one in a hundred is never answered.
    if (isFirst && fraction(key) < 0.3) return void response.writeHead(503).end()
    if (isFirst && fraction(`${key} hangs`) < 0.01) return
    accepted.set(id, [...(accepted.get(id) ?? []), title])
    response.writeHead(200).end()
  }
  const settings = { allow_local_requests_from_web_hooks_and_services: true }
  expect((await service.root.put('/application/settings', settings)).status).toBe(200)
  const project = (await service.root.post('/projects', { path: 'hooked' })).json.id
  const hook = { url: receiver.url, push_events: false, issues_events: true }
  expect((await service.root.post(`/projects/${project}/hooks`, hook)).status).toBe(201)

  /** The titles that the service has acknowledged, by issue. */
  const acknowledged = new Map<number, string[]>()
  const write = async (n: number) => {
    const at = `/projects/${project}/issues`
    const repeat = async (send: () => Promise<{ status: number; json: any }>, status: number) => {
      for (;;) {
        const answer = await send().catch(() => undefined)
        if (answer?.status === status) return answer.json
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const { id, iid } = await repeat(() => service.root.post(at, { title: `issue ${n}: 0` }), 201)
    acknowledged.set(id, [`issue ${n}: 0`])
    for (let change = 1; change < changes; change++) {
      const title = `issue ${n}: ${change}`
      await repeat(() => service.root.put(`${at}/${iid}`, { title }), 200)
      acknowledged.get(id)!.push(title)
    }
  }
  const numbers = Array.from({ length: issues }, (_, n) => n)
  const writers = Array.from({ length: 4 }, async () => {
    for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await write(n)
  })
  const count = (titles: ReadonlyMap<number, readonly string[]>) => [...titles.values()].flat().length
  for (const kill of ['stithy jobs', 'everything', 'stithy jobs', 'everything']) {
    const before = count(accepted)
    await eventually(() => expect(count(accepted)).toBeGreaterThan(before + 20), 5)
    if (kill === 'everything') {
      service.launched.process.kill('SIGKILL')
      await service.launched.exit
      await receiver.close()
      service = await serve(env)
      await receiver.listen()
    } else await service.launched.killNamed(kill)
  }
  await Promise.all(writers)
  await eventually(() => {
    const missing = [...acknowledged].flatMap(([id, titles]) =>
      titles.filter((title) => !accepted.get(id)?.includes(title)),
    )
    expect(missing).toEqual([])
  }, 200)
  expect(count(acknowledged)).toBe(issues * changes)
  for (const [id, titles] of acknowledged) expect([...new Set(accepted.get(id))]).toEqual(titles)
  // A repeated creation of an issue is another issue, so each title of an issue is one event.
  for (const [, ids] of keys) expect(ids.size).toBe(1)
})
