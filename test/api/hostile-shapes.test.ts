import { describe, expect, onTestFinished } from 'vitest'
import { alternatives, type ParamSchema } from '../../src/api/params/schema.ts'
import { endpoints } from '../../src/areas/index.ts'
import { allParams, pagingParams } from '../../src/edges/http/mount.ts'
import { type Client, type Sent, test, type World } from '../world.ts'
import { concretePath } from './paths.ts'

const long = 'x'.repeat(20_000)

/** What each parameter is sent as, in JSON. */
const values: readonly unknown[] = [
  [],
  ['x', null, [1], { a: 1 }],
  { a: { b: [] } },
  {},
  null,
  '',
  0,
  -1,
  1e300,
  2 ** 53,
  true,
  long,
  '\u0000',
  '\ud800',
  '__proto__',
  "'",
]

/** The same in what forms and queries can say: the name's suffix and the value. */
const spelled: readonly (readonly [suffix: string, value: string])[] = [
  ['', ''],
  ['', '0'],
  ['', 'true'],
  ['', '%00'],
  ['', '%FF'],
  ['', "'"],
  ['[]', ''],
  ['[]', 'x'],
  ['[][]', 'x'],
  ['[a]', 'x'],
  ['[a][b][]', 'x'],
  ['[__proto__]', 'x'],
  ['[', 'x'],
]

const part = (name: string, value: string, file: boolean) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${file ? '; filename="../../x"' : ''}\r\n\r\n${value}\r\n--b--\r\n`

/** All shapes where the verb usually takes parameters, a few of them elsewhere: every place ends in one tree. */
function* requests(name: string, reads: boolean): Generator<{ label: string; query?: string; sent?: Sent }> {
  for (const value of values)
    yield { label: `JSON ${JSON.stringify(value)?.slice(0, 30)}`, sent: { json: { [name]: value } } }
  for (const [index, [suffix, value]] of spelled.entries()) {
    const text = `${name}${suffix}=${value}`
    const few = index % 5 === 0
    if (reads || few) yield { label: `query ${text}`, query: text }
    if (!reads || few)
      yield {
        label: `form ${text}`,
        sent: { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: text },
      }
  }
  // A list repeats its query in four links, and clients take 16 KB of headers.
  yield { label: 'query, long', query: `${name}=${'x'.repeat(3000)}` }
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
  for (const suffix of ['', '[]'])
    for (const file of [false, true])
      yield { label: `multipart ${suffix} ${file}`, sent: { headers: multipart, body: part(name + suffix, 'x', file) } }
}

/** Something that passes for the parameter, so that what is wrong is the one under test. */
function plausible(schema: ParamSchema): unknown {
  const [first] = alternatives(schema)
  if (first?.enum) return first.enum[0]
  if (first?.type === 'integer' || first?.type === 'number') return 1
  if (first?.type === 'boolean') return true
  if (first?.type === 'array') return []
  if (first?.type === 'object') return {}
  return 'x'
}

const required = (schema: Record<string, ParamSchema>) =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([, each]) => each['~optional'] !== true && each.default === undefined)
      .map(([name, each]) => [name, plausible(each)]),
  )

const admins = new WeakMap<World, Promise<Client>>()

/** An administrator of whom tests here need only that he may do all. */
function adminOf(world: World): Promise<Client> {
  const made = admins.get(world) ?? world.user({ admin: true }).then((user) => world.as(user, ['api', 'sudo']))
  admins.set(world, made)
  return made
}

describe('hostile shapes of parameters never break anything', () => {
  test.for(endpoints.map((e) => [`${e.method} ${e.path}`, e] as const))('%s', async ([, e], { world }) => {
    // They are put back when the test ends.
    if (e.path === '/application/settings') await world.settings({})
    if (e.path === '/application/appearance') onTestFinished(() => world.plainAppearance())
    const admin = await adminOf(world)
    // What is written to is not the account that makes everything here.
    const who = e.method === 'GET' ? world.root : await world.user()
    const path = e.method === 'DELETE' ? e.path.replace(/:\w+/g, '0') : await concretePath(e.path, who, world)
    const properties = allParams(e).properties as Record<string, ParamSchema>
    const inPath = new Set([...e.path.matchAll(/:(\w+)/g)].map((match) => match[1]))
    // What every call or list has is tried on one of each.
    const common = e.path === '/projects' ? ['sudo', 'private_token', 'access_token'] : Object.keys(pagingParams)
    const own = Object.keys(properties).filter(
      (name) => !inPath.has(name) && (e.path === '/projects' || !common.includes(name)),
    )
    const names = [...new Set([...own, ...(e.path === '/projects' ? common : ['id'])])]
    const broken: string[] = []
    const ask = async (
      who: Client,
      name: string,
      { label, query, sent }: { label: string; query?: string; sent?: Sent },
    ) => {
      const others = required(properties)
      const json = sent && 'json' in sent ? { json: { ...others, ...(sent.json as object) } } : {}
      const got = await who.send(e.method, `${path}?per_page=1&${query ?? ''}`, { ...sent, ...json })
      if (got.status >= 500) broken.push(`${name}: ${label} → ${got.status}`)
    }
    const waiting = names.flatMap((name) =>
      [...requests(name, e.method === 'GET' || e.method === 'DELETE')].map(
        (request) => () => ask(admin, name, request),
      ),
    )
    let next = 0
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        while (next < waiting.length) await waiting[next++]!()
      }),
    )
    expect(waiting.length).toBeGreaterThan(25)
    expect(broken).toEqual([])
  })

  const segments = [
    '%00',
    '%2F',
    '%2E%2E',
    '..%2F..%2Fetc',
    '-1',
    '0',
    '99999999999999999999',
    '1e3',
    'NaN',
    "'",
    '%FF',
    '%',
    '%ED%A0%80',
    '%0A',
    'x'.repeat(4000),
    '%F0%9F%98%80',
    '0.json',
    '__proto__',
  ]
  test.for([
    ...new Set(endpoints.filter(({ path }) => path.includes(':')).map(({ method, path }) => `${method} ${path}`)),
  ])('segments of %s', async (declared, { world }) => {
    const [method, path] = declared.split(' ') as [string, string]
    for (const segment of segments) {
      // The last parameter takes the blow; the others are numbers nothing has.
      const names = [...path.matchAll(/:\w+/g)].map((match) => match[0])
      const hit = names.reduce(
        (all, name, index) => all.replace(name, index === names.length - 1 ? segment : '0'),
        path,
      )
      const got = await world.root.send(method, hit, method === 'GET' ? {} : { json: {} })
      expect(got.status, `${segment}: ${got.text.slice(0, 200)}`).toBeLessThan(500)
    }
  })
})
