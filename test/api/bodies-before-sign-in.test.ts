import { describe, expect, vi } from 'vitest'
import { test, unique } from '../world.ts'

const kibibyte = 1024

const manyKeys = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index])))

/** Length of the longest text that this process, which is also the service, parses as JSON during the work. */
async function longestParsed(work: () => Promise<void>): Promise<number> {
  let longest = 0
  const parse = JSON.parse
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    longest = Math.max(longest, String(text).length)
    return parse(text, reviver)
  })
  try {
    await work()
  } finally {
    spy.mockRestore()
  }
  return longest
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('anonymous request bodies', () => {
  test('401, without parsing, for an anonymous body of 400,000 keys if an account is needed', async ({ world }) => {
    const body = manyKeys(400_000)
    const longest = await longestParsed(async () => {
      expect(await world.anonymous.send('POST', '/projects', { headers: json, body })).toMatchObject({ status: 401 })
    })
    expect(longest).toBeLessThan(256 * kibibyte)
  })

  test('413 without parsing an anonymous body of 400,000 keys when the endpoint is public', async ({ world }) => {
    const body = manyKeys(400_000)
    const longest = await longestParsed(async () => {
      expect(await world.anonymous.send('GET', '/projects', { headers: json, body })).toMatchObject({ status: 413 })
    })
    expect(longest).toBeLessThan(256 * kibibyte)
  })

  test.for([
    ['JSON', json, manyKeys(6_000), 'too many values: at most 5000 are read'],
    ['a form', form, 'a[]=1&'.repeat(1_001), 'too many parameters: at most 1000 are read'],
    [
      'multipart',
      { 'content-type': 'multipart/form-data; boundary=XX' },
      `${'--XX\r\nContent-Disposition: form-data; name="a[]"\r\n\r\n1\r\n'.repeat(1_001)}--XX--\r\n`,
      'too many parameters: at most 1000 are read',
    ],
  ] as const)(
    'an anonymous body of %s with too many parameters is a 400 that names the limit',
    async ([, headers, body, error], { world }) => {
      expect(await world.anonymous.send('POST', '/projects', { headers, body })).toMatchObject({
        status: 400,
        json: { error },
      })
    },
  )

  test('401 for an anonymous multipart body that never reaches a part', async ({ world }) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=XX' }
    const body = 'no part\r\n'.repeat(100_000)
    expect(await world.anonymous.send('POST', '/projects', { headers, body })).toMatchObject({ status: 401 })
  })

  test('a JSON, form or multipart body can carry the access token', async ({ world }) => {
    const user = await world.user()
    const name = () => unique('by-token-in-body')
    const token = user.token!
    const part = (field: string, value: string) =>
      `--XX\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`
    for (const [headers, body] of [
      [json, JSON.stringify({ name: name(), private_token: token })],
      [form, `name=${name()}&access_token=${token}`],
      [
        { 'content-type': 'multipart/form-data; boundary=XX' },
        `${part('name', name())}${part('private_token', token)}--XX--\r\n`,
      ],
    ] as const)
      expect(await world.anonymous.send('POST', '/projects', { headers, body })).toMatchObject({ status: 201 })
  })
})

describe('request bodies of a signed-in user', () => {
  test('400 with the limit, without parsing, when a body has more than 50,000 values', async ({ world }) => {
    const body = manyKeys(400_000)
    const longest = await longestParsed(async () => {
      expect(await world.root.send('POST', '/projects', { headers: json, body })).toMatchObject({
        status: 400,
        json: { error: 'too many values: at most 50000 are read' },
      })
    })
    expect(longest).toBeLessThan(256 * kibibyte)
  })

  test('400 with the limit when a body is nested deeper than 32 levels', async ({ world }) => {
    const nested = (levels: number) => `{"name":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect(await world.root.send('POST', '/projects', { headers: json, body: nested(33) })).toMatchObject({
      status: 400,
      json: { error: 'parameters are nested too deeply: at most 32 levels are read' },
    })
    expect((await world.root.send('POST', '/projects', { headers: json, body: nested(32) })).json.error).not.toMatch(
      'nested too deeply',
    )
  })
})

test('422 with the limit when an LFS batch request has too many values', async ({ world }) => {
  const project = await world.project({ visibility: 'public' })
  const headers = { 'content-type': 'application/vnd.git-lfs+json', accept: 'application/vnd.git-lfs+json' }
  const body = JSON.stringify({ operation: 'download', objects: Array.from({ length: 11_000 }, () => 0) })
  expect(
    await world.anonymous.send('POST', `//${project.full_path}.git/info/lfs/objects/batch`, { headers, body }),
  ).toMatchObject({
    status: 422,
    text: expect.stringContaining('too many values: at most 10000 are read'),
  })
})
