import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { smallForge } from '../../../../test/forge/data.ts'
import type { Chosen, FakeForge } from '../../../../test/forge/fake-forge.ts'
import { forgeToken } from '../../../../test/forge/fake-forge.ts'
import { forgeImports } from '../../../../test/tables/portability.ts'
import { test } from '../../../../test/world.ts'
import { nextQuery } from './client.ts'
import { collect } from './collect.ts'
import { github } from './github.ts'
import { PageFiles, projectsWithPages } from './pages.ts'
import { forgeOf, importOf, request } from './testing.ts'

const issuesOnly = (answer: (path: string) => Chosen) => (path: string) =>
  path.includes('/issues?') ? answer(path) : undefined

const pageOf = (path: string): number => Number(new URL(path, 'http://x').searchParams.get('page') ?? 1)

const withNext = (path: string, page: number, body = '[{}]'): Chosen => {
  const url = new URL(path, 'http://forge.example')
  url.searchParams.set('page', String(page))
  return { headers: { link: `<${url.href}>; rel="next"` }, body }
}

const answers: [string, (path: string) => Chosen, string][] = [
  [
    'millions of small values',
    () => ({ body: `[${'{},'.repeat(5_000_000)}{}]` }),
    'A page of the API has more than 500000 values',
  ],
  [
    'a body of 20 MB',
    () => ({ body: Buffer.alloc(20 * 1024 * 1024, 32) }),
    'A page of the API is larger than 16777216 bytes',
  ],
  ['an object in place of a list', () => ({ body: '{"a":1}' }), 'The forge did not answer with a list of issues'],
  [
    'text that is no JSON',
    () => ({ body: '<html>' }),
    'The forge did not answer with JSON, when it was asked for issues',
  ],
  [
    'bytes that are no UTF-8',
    () => ({ body: Buffer.from([0x5b, 0xff, 0x5d]) }),
    'The forge did not answer with JSON, when it was asked for issues',
  ],
  [
    'nested lists without end',
    () => ({ body: '['.repeat(400_000) }),
    'The forge did not answer with JSON, when it was asked for issues',
  ],
  [
    'pages that repeat themselves',
    (path) => withNext(path, (pageOf(path) % 3) + 1),
    'The pages of issues repeat themselves',
  ],
  [
    'a page of 2,000 items',
    () => ({ body: JSON.stringify(Array(2000).fill({})) }),
    'A page of issues has too many items',
  ],
  ['a refused token', () => ({ status: 401 }), 'The forge refused the token'],
  [
    'a redirect to a file',
    () => ({ status: 302, headers: { location: 'file:///etc/passwd' } }),
    'The address is blocked: Only allowed schemes are http, https',
  ],
  [
    'a redirect to another local port',
    () => ({ status: 302, headers: { location: 'http://127.0.0.2:9000/' } }),
    'The address is blocked: Requests to loopback addresses are not allowed',
  ],
]

describe('hostile forges', () => {
  test.for(answers)(
    'an import fails with the reason, and leaves nothing: %s',
    async ([, answer, reason], { world }) => {
      await using forge = await forgeOf(world, 'github')
      forge.choose = issuesOnly(answer)
      const zoe = await world.user()
      const { id, at, state } = await importOf(world, zoe, forge)
      expect(state).toMatchObject({ import_status: 'failed', import_error: reason })
      expect((await zoe.get(`${at}/labels`)).json).toEqual([])
      expect(await forgeImports(world, id)).toEqual([])
      expect(await projectsWithPages(await contextFor(world, null))).not.toContain(id)
    },
  )

  test('an endless list ends at a maximum of pages', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    forge.choose = issuesOnly((path) => withNext(path, pageOf(path) + 1))
    const ctx = await contextFor(world, null)
    const files = new PageFiles(ctx, 999_999_999)
    await expect(
      collect(ctx, {
        access: { adapter: github, forgeUrl: new URL(forge.origin), token: forgeToken },
        repository: 'ann/code',
        stages: { singleEndpointNotes: false, people: false },
        files,
        limits: { pages: 20, items: 100, bytes: 1e9 },
        optimistic: false,
        fruitless: { before: 0, most: 1 },
        progress: async () => {},
      }),
    ).rejects.toThrow('issues has more than 20 pages')
    expect(forge.asked.filter((path) => path.includes('/issues?'))).toHaveLength(20)
    await files.remove()
  })

  test('the next page is at the forge, whatever host a link names', async ({ world }) => {
    expect(nextQuery('<http://evil.example/x?page=2>; rel="next"')).toBe('page=2')
    expect(nextQuery('<https://a.example/?page=1>; rel="prev", </?page=3&a=b>; rel="next"')).toBe('page=3&a=b')
    for (const link of [undefined, '', '<>; rel="next"', '<http://a.example/>; rel="next"', '<'.repeat(10_000)])
      expect(nextQuery(link)).toBeUndefined()
    await using forge = await forgeOf(world, 'github')
    forge.choose = (path) =>
      path.includes('/labels?') && pageOf(path) === 1
        ? { headers: { link: '<http://evil.example/steal?page=2>; rel="next"' }, body: '[{"name":"one"}]' }
        : undefined
    const { state } = await importOf(world, await world.user(), forge)
    expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { label: 2 } } })
  })

  test('a redirect to another host does not get the token', async ({ world }) => {
    const seen: unknown[] = []
    await using forge = await forgeOf(world, 'gitea')
    const other = createServer(({ headers }, response) => {
      seen.push(headers)
      response.end('[]')
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    forge.choose = (path) =>
      path.includes('/labels') ? { status: 302, headers: { location: `http://127.0.0.1:${port}/x` } } : undefined
    const { state } = await importOf(world, await world.user(), forge)
    other.close()
    expect(state).toMatchObject({ import_status: 'finished' })
    expect(seen).toHaveLength(1)
    expect(JSON.stringify(seen)).not.toContain(forgeToken)
  })

  test('values that no column takes are mended or left out, each with the reason', async ({ world }) => {
    const data = smallForge()
    const [issue] = data.issues
    const odd = [
      { ...issue!, number: 10, title: `a\0b\n${'x'.repeat(400)}`, body: `c\0d\ud800${'y'.repeat(1_100_000)}` },
      { ...issue!, number: -1 },
      { ...issue!, number: 2 ** 40 },
      { ...issue!, number: 1, title: 'Again' },
      { ...issue!, number: 3, title: 'The number of a pull request' },
      { ...issue!, number: 11, user: null, labels: [{ id: 9, name: 'a,b', color: 'zz', description: 'x' }] },
    ]
    await using forge = await forgeOf(world, 'gitea', { ...data, issues: [...data.issues, ...odd] })
    const zoe = await world.user()
    const { at, state } = await importOf(world, zoe, forge)
    expect(state).toMatchObject({ import_status: 'finished' })
    const found = (await zoe.get(`${at}/issues`)).json.map(({ iid }: { iid: number }) => iid)
    expect(found.sort((a: number, b: number) => a - b)).toEqual([1, 2, 3, 10, 11])
    const ten = (await zoe.get(`${at}/issues/10`)).json
    expect(ten.title).toHaveLength(255)
    expect(ten.title.startsWith('a\ufffdb x')).toBe(true)
    expect(ten.description).toContain('c\ufffdd\ufffd')
    const eleven = (await zoe.get(`${at}/issues/11`)).json
    expect(eleven.description).toContain('*Created by: ghost*')
    expect(eleven.labels).toEqual(['a b'])
    const reasons = state.failed_relations.map((each: any) => `${each.relation_name}: ${each.exception_message}`)
    expect(reasons).toContain('issue: issues: number is missing or not valid')
    expect(reasons).toContain('pull_request: 3: an issue and a pull request have the same number')
  })
})

describe('callers of an import', () => {
  const refusals: [string, (forge: FakeForge) => object, number][] = [
    ['a path in place of a repository', () => ({ repo: '../../admin/users' }), 400],
    ['a repository that does not exist', () => ({ repo: 'ann/none' }), 422],
    ['a wrong token', () => ({ personal_access_token: 'other' }), 422],
    ['a namespace that does not exist', () => ({ target_namespace: 'no-such-namespace' }), 404],
    ['a blocked address', () => ({ gitea_url: 'http://127.0.0.2:3000' }), 400],
    ['an address that is no URL', () => ({ gitea_url: 'file:///etc' }), 400],
    ['a token with a line break', () => ({ personal_access_token: 'a\r\nx: y' }), 400],
    ['a token with NUL', () => ({ personal_access_token: 'a\0' }), 400],
    ['a name that no project has', () => ({ new_name: '../x' }), 400],
  ]
  test.for(refusals)('refusal of %s', async ([, change, status], { world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const zoe = await world.user()
    const answer = await request(zoe, forge, change(forge) as Record<string, unknown>)
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain(forgeToken)
    expect((await zoe.get(`/users/${zoe.id}/projects`)).json).toEqual([])
  })

  test('404 or 400 for the namespace of another user, and 401 for anonymous callers', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const [zoe, ben] = [await world.user(), await world.user()]
    expect([400, 404]).toContain((await request(zoe, forge, { target_namespace: ben.username })).status)
    expect((await request(world.anonymous, forge, { target_namespace: zoe.username })).status).toBe(401)
  })
})
