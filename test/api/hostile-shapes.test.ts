import { inspect } from 'node:util'
import { describe, expect, onTestFinished } from 'vitest'
import { compileParams } from '../../src/api/params/compile.ts'
import { ParameterError } from '../../src/api/params/parameter-error.ts'
import type { RawParams } from '../../src/api/params/raw.ts'
import { alternatives, type ParamSchema } from '../../src/api/params/schema.ts'
import { UploadedFile } from '../../src/api/params/uploaded-file.ts'
import { mergeRaw } from '../../src/edges/http/body/merge.ts'
import { parseUrlencoded } from '../../src/edges/http/body/urlencoded.ts'
import { allParams, pagingParams } from '../../src/edges/http/declared.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import { type Client, type Sent, test, type World } from '../world.ts'
import { concretePath } from './paths.ts'

const long = 'x'.repeat(20_000)

/** The JSON values that each parameter is sent as. */
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

/** The same shapes for forms and queries: suffix of the name, and value. */
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

const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const part = (name: string, file: boolean) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${file ? '; filename="../../x"' : ''}\r\n\r\nx\r\n`
const asUploaded = (fieldName: string): UploadedFile =>
  new UploadedFile({ fieldName, filename: 'x', contentType: 'text/plain', path: '/nowhere', sizeBytes: 1 })

/** One unexpected shape of parameters. */
type Shape = {
  readonly label: string
  /** The request that sends all these parameters in this shape; `others` have valid values. */
  readonly request: (names: readonly string[], others: Record<string, unknown>) => { query?: string; sent: Sent }
  /** What the service parses from one parameter, before validation; throws when it cannot be parsed. */
  readonly raw: (name: string) => RawParams
}

const inJson = (value: unknown): Shape => ({
  label: `JSON ${JSON.stringify(value)?.slice(0, 30)}`,
  request: (names, others) => ({ sent: { json: { ...others, ...Object.fromEntries(names.map((n) => [n, value])) } } }),
  raw: (name) => JSON.parse(JSON.stringify({ [name]: value })),
})

/** A body parameter hides the query parameter of the same name. */
const without = (others: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(others).filter(([name]) => !names.includes(name)))

const inQuery = (suffix: string, value: string): Shape => ({
  label: `query ${suffix}=${value.slice(0, 10)}`,
  request: (names, others) => ({
    query: names.map((name) => `${name}${suffix}=${value}`).join('&'),
    sent: { json: without(others, names) },
  }),
  raw: (name) => parseUrlencoded(`${name}${suffix}=${value}`),
})

const scalars = (others: Record<string, unknown>) =>
  Object.entries(others)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')

const inForm = (suffix: string, value: string): Shape => ({
  label: `form ${suffix}=${value}`,
  request: (names, others) => ({
    query: scalars(without(others, names)),
    sent: { headers: form, body: names.map((name) => `${name}${suffix}=${value}`).join('&') },
  }),
  raw: (name) => parseUrlencoded(`${name}${suffix}=${value}`),
})

const inMultipart = (suffix: string, file: boolean): Shape => ({
  label: `multipart ${suffix}${file ? ' file' : ''}`,
  request: (names, others) => ({
    query: scalars(without(others, names)),
    sent: { headers: multipart, body: `${names.map((name) => part(name + suffix, file)).join('')}--b--\r\n` },
  }),
  raw: (name) => {
    const value = file ? asUploaded(name + suffix) : 'x'
    return { [name]: suffix === '' ? value : [value] }
  },
})

/** All shapes, those usual for the method first. */
const shapesOf = (reads: boolean): readonly Shape[] => {
  const queries = spelled.map(([suffix, value]) => inQuery(suffix, value))
  const forms = spelled.map(([suffix, value]) => inForm(suffix, value))
  // A list repeats its query in four links, and clients accept 16 KB of headers.
  const longQuery = inQuery('', 'x'.repeat(3000))
  const files = ['', '[]'].flatMap((suffix) => [inMultipart(suffix, false), inMultipart(suffix, true)])
  const json = values.map(inJson)
  return reads
    ? [...queries, longQuery, ...json, ...forms, ...files]
    : [...json, ...forms, ...files, ...queries, longQuery]
}

/** A valid value for the parameter, so that only the parameter under test is wrong. */
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

/** The text of what the handler gets from raw parameters, or nothing when validation refuses them. */
function outcome(read: () => unknown): string | undefined {
  try {
    return inspect(read(), { depth: null, maxStringLength: null, maxArrayLength: null })
  } catch (error) {
    // Any other exception would become a 500.
    if (error instanceof ParameterError) return undefined
    throw error
  }
}

/** The values that a concrete path has for the parameters of the declared path. */
function pathValues(declared: string, concrete: string): RawParams {
  const given = concrete.split('/')
  return Object.fromEntries(
    declared.split('/').flatMap((segment, at) => (segment.startsWith(':') ? [[segment.slice(1), given[at]]] : [])),
  )
}

const admins = new WeakMap<World, Promise<Client>>()

/** An administrator account, to have all permissions. */
function adminOf(world: World): Promise<Client> {
  const made = admins.get(world) ?? world.user({ admin: true }).then((user) => world.as(user, ['api', 'sudo']))
  admins.set(world, made)
  return made
}

/**
 * Parameters are validated before anything else happens, so each shape of each parameter is validated in memory, and only
 * what a handler would get is sent: each distinct value of each parameter once. Refused shapes are sent for all parameters in
 * one request.
 */
describe('hostile shapes of parameters cause no 500', () => {
  test.for(endpoints.map((e) => [`${e.method} ${e.path}`, e] as const))(
    'hostile shapes of %s',
    async ([, e], { world }) => {
      // Restored at the end of the test.
      if (e.path === '/application/settings') await world.settings({})
      if (e.path === '/application/appearance') onTestFinished(() => world.plainAppearance())
      const admin = await adminOf(world)
      // Writes go to an account other than the one that sets up the tests.
      const who = e.method === 'GET' ? world.root : await world.user()
      const path = e.method === 'DELETE' ? e.path.replace(/:\w+/g, '0') : await concretePath(e.path, who, world)
      const properties = allParams(e).properties as Record<string, ParamSchema>
      const inPath = pathValues(e.path, path)
      // Parameters shared by all calls or lists are tested on one endpoint each.
      const takesAll = e.path === '/projects'
      const common = takesAll ? ['sudo', 'private_token', 'access_token'] : Object.keys(pagingParams)
      const own = Object.keys(properties).filter((name) => !(name in inPath) && (takesAll || !common.includes(name)))
      const names = [...new Set([...own, 'id'])]
      const others = required(properties)
      const read = compileParams(allParams(e), { plan: world.config.plan })
      const requests: { label: string; query?: string; sent: Sent }[] = []
      const known = new Set<string>()
      for (const shape of shapesOf(e.method === 'GET' || e.method === 'DELETE')) {
        const refused = names.filter((name) => {
          const made = outcome(() =>
            read(mergeRaw(inPath, { ...(others as RawParams), ...shape.raw(name) }, {}), e.method),
          )
          if (made === undefined) return true
          if (!known.has(made)) requests.push({ label: `${name}: ${shape.label}`, ...shape.request([name], others) })
          known.add(made)
          return false
        })
        if (refused.length > 0) requests.push({ label: shape.label, ...shape.request(refused, others) })
        // Path parameters are validated earlier, and not here.
        if (takesAll)
          for (const name of common)
            requests.push({ label: `${name}: ${shape.label}`, ...shape.request([name], others) })
      }
      const broken: string[] = []
      let next = 0
      const ask = async () => {
        while (next < requests.length) {
          const { label, query = '', sent } = requests[next++]!
          const { status } = await admin.send(e.method, `${path}?per_page=1&${query}`, sent)
          if (status >= 500) broken.push(`${label} → ${status}`)
        }
      }
      await Promise.all(Array.from({ length: 20 }, ask))
      expect(requests.length).toBeGreaterThan(0)
      expect(broken).toEqual([])
    },
  )

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
  ])('hostile path segments of %s cause no 500', async (declared, { world }) => {
    const [method, path] = declared.split(' ') as [string, string]
    const ask = async (segment: string) => {
      // The last parameter gets the hostile segment; the others are ids that do not exist.
      const names = [...path.matchAll(/:\w+/g)].map((match) => match[0])
      const hit = names.reduce(
        (all, name, index) => all.replace(name, index === names.length - 1 ? segment : '0'),
        path,
      )
      const got = await world.root.send(method, hit, method === 'GET' ? {} : { json: {} })
      expect(got.status, `${segment}: ${got.text.slice(0, 200)}`).toBeLessThan(500)
    }
    await Promise.all(segments.map(ask))
  })
})
