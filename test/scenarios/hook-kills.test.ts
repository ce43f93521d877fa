import { expect, test } from 'vitest'
import { HookReceiver } from '../hook-receiver.ts'
import { freshEnv, type Service, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

/** Deliveries that the scenario causes at least: `STITHY_TEST_DELIVERIES=100000` for the large one. */
const wanted = Number(process.env['STITHY_TEST_DELIVERIES'] ?? 1200)
const isLarge = wanted > 10_000
const receiverCount = isLarge ? 20 : 1
const changes = 20
const issues = Math.ceil(wanted / changes / receiverCount)
const kills = Array.from({ length: isLarge ? 10 : 4 }, (_, n) => (n % 2 === 0 ? 'stithy jobs' : 'everything'))
/** Shares of first attempts that fail, and that are never answered. A hanging request takes ten seconds. */
const [failing, hanging] = [0.3, isLarge ? 0.05 : 0.01]

/** A number from 0 to 1 that depends on the text only. */
function fraction(text: string): number {
  let hash = 2_166_136_261
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0
  return hash / 2 ** 32
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A receiver that fails and hangs, with what it has accepted. */
class Unreliable implements AsyncDisposable {
  readonly receiver: HookReceiver
  /** Titles in the order in which they were accepted, by issue. */
  readonly accepted = new Map<number, string[]>()
  /** Keys of each event. */
  readonly keys = new Map<string, Set<string>>()
  count = 0
  readonly #seen = new Set<string>()

  constructor(receiver: HookReceiver) {
    this.receiver = receiver
    receiver.answering = ({ json, headers }, response) => {
      // What was received is remembered here, in less memory.
      receiver.received.length = 0
      const { id, title } = json.object_attributes
      const key = String(headers['idempotency-key'])
      const named = `${id} ${title}`
      this.keys.set(named, (this.keys.get(named) ?? new Set()).add(key))
      const isFirst = !this.#seen.has(key)
      this.#seen.add(key)
      if (isFirst && fraction(key) < failing) return void response.writeHead(503).end()
      if (isFirst && fraction(`${key} hangs`) < hanging) return
      this.accepted.set(id, [...(this.accepted.get(id) ?? []), title])
      this.count++
      response.writeHead(200).end()
    }
  }

  missing(acknowledged: ReadonlyMap<number, readonly string[]>): string[] {
    return [...acknowledged].flatMap(([id, titles]) =>
      titles.filter((title) => !this.accepted.get(id)?.includes(title)),
    )
  }

  [Symbol.asyncDispose] = () => this.receiver[Symbol.asyncDispose]()
}

/** Repeats a request that a kill interrupts, until it has this status. */
async function until(status: number, send: () => Promise<{ status: number; json: any }>): Promise<any> {
  for (;;) {
    const answer = await send().catch(() => undefined)
    if (answer?.status === status) return answer.json
    await pause(100)
  }
}

test('a receiver that fails, hangs and restarts gets every event in order, although the service is killed several times', {
  timeout: isLarge ? 3_600_000 : 580_000,
}, async () => {
  const env = await freshEnv()
  let service: Service = await serve(env)
  await using stack = new AsyncDisposableStack()
  const receivers: Unreliable[] = []
  for (let n = 1; n <= receiverCount; n++)
    receivers.push(stack.use(new Unreliable(await HookReceiver.start(`127.0.0.${n}`))))
  const settings = { allow_local_requests_from_web_hooks_and_services: true }
  expect((await service.root.put('/application/settings', settings)).status).toBe(200)
  const project = (await service.root.post('/projects', { path: 'hooked' })).json.id
  for (const { receiver } of receivers) {
    const hook = { url: receiver.url, push_events: false, issues_events: true }
    expect((await service.root.post(`/projects/${project}/hooks`, hook)).status).toBe(201)
  }

  /** The titles that the service has acknowledged, by issue. */
  const acknowledged = new Map<number, string[]>()
  const write = async (n: number) => {
    const at = `/projects/${project}/issues`
    const { id, iid } = await until(201, () => service.root.post(at, { title: `issue ${n}: 0` }))
    acknowledged.set(id, [`issue ${n}: 0`])
    for (let change = 1; change < changes; change++) {
      const title = `issue ${n}: ${change}`
      await until(200, () => service.root.put(`${at}/${iid}`, { title }))
      acknowledged.get(id)!.push(title)
    }
  }
  const began = performance.now()
  const numbers = Array.from({ length: issues }, (_, n) => n)
  const writers = Array.from({ length: 4 }, async () => {
    for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await write(n)
  })
  const count = () => receivers.reduce((sum, receiver) => sum + receiver.count, 0)
  const report = (what: string) =>
    isLarge && console.log(`${what}: ${count()} accepted after ${Math.round((performance.now() - began) / 1000)} s`)
  const between = isLarge ? Math.floor(wanted / (kills.length + 2)) : 20
  for (const kill of kills) {
    const before = count()
    await eventually(() => expect(count()).toBeGreaterThanOrEqual(before + between), 5)
    report(`before a kill of ${kill}`)
    if (kill === 'everything') {
      service.launched.process.kill('SIGKILL')
      await service.launched.exit
      for (const { receiver } of receivers) await receiver.close()
      service = await serve(env)
      for (const { receiver } of receivers) await receiver.listen()
    } else await service.launched.killNamed(kill)
  }
  await Promise.all(writers)
  report('all written')
  for (const receiver of receivers)
    await eventually(() => expect(receiver.missing(acknowledged).length).toBe(0), isLarge ? 2000 : 200)
  report('none missing')
  expect([...acknowledged.values()].flat()).toHaveLength(issues * changes)
  for (const { accepted, keys } of receivers) {
    for (const [id, titles] of acknowledged) expect([...new Set(accepted.get(id))]).toEqual(titles)
    // A repeated creation of an issue is another issue, so each title of an issue is one event.
    for (const [, ids] of keys) expect(ids.size).toBe(1)
  }
})
