import { Type } from 'typebox'
import { describe, expect, test as plain } from 'vitest'
import { endpoint, raw } from '../../src/api/endpoint.ts'
import { entity } from '../../src/api/entity.ts'
import {
  CommaList,
  Filled,
  Flag,
  Hash,
  List,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  File as Upload,
  WholeOr,
} from '../../src/api/params/types.ts'
import { nullable } from '../../src/api/schema.ts'
import { statusOf } from '../../src/edges/http/mount.ts'
import { openApiDocument } from '../../src/edges/http/openapi/document.ts'
import { namedOperations, operationIdOf } from '../../src/edges/http/openapi/operation-id.ts'
import { areas, endpoints } from '../../src/modules/index.ts'
import { instance } from '../../src/modules/instance/instance/subject.ts'
import { test } from '../world.ts'

const whole = openApiDocument(areas, { plan: 'ultimate', version: '1', apiVersion: '2' }) as any

/** Every object in the document with the path to it. */
function* objectsOf(value: unknown, at = ''): Generator<[at: string, object: Record<string, any>]> {
  if (typeof value !== 'object' || value === null) return
  yield [at, value as Record<string, any>]
  for (const [name, inner] of Object.entries(value)) yield* objectsOf(inner, `${at}/${name}`)
}

const operations = () =>
  Object.entries<any>(whole.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([verb, operation]) => ({ path, verb, operation })),
  )

describe('OpenAPI document', () => {
  plain('D1-PREFIX D1-VERSION: the server URL has the version, and each endpoint is listed once', () => {
    expect(whole.openapi).toBe('3.1.0')
    expect(whole.servers).toEqual([{ url: '/api/v4' }])
    for (const e of endpoints) {
      const { method, path } = e
      const operation = whole.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
      expect(operation, `${method} ${path}`).toMatchObject({ operationId: operationIdOf(e) })
    }
  })

  plain('each operation has a unique operationId and one success status', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const e of endpoints) {
      const operation = whole.paths[e.path.replace(/:(\w+)/g, '{$1}')][e.method.toLowerCase()]
      expect(Object.keys(operation.responses).filter((status) => status < '300')).toEqual([String(statusOf(e))])
    }
  })

  plain('operation ids are method names of a client', () => {
    const idOf = (wanted: string) => {
      const [method, path] = wanted.split(' ')
      return operationIdOf(endpoints.find((e) => e.method === method && e.path === path)!)
    }
    expect(idOf('GET /projects/:id/merge_requests')).toBe('listProjectMergeRequests')
    expect(idOf('POST /projects/:id/repository/branches')).toBe('createProjectBranch')
    expect(idOf('PUT /groups/:id/access_requests/:user_id/approve')).toBe('approveGroupAccessRequest')
    expect(idOf('GET /user/keys/:key_id')).toBe('getCurrentUserKey')
    expect(idOf('DELETE /personal_access_tokens/self')).toBe('revokeCurrentToken')
    for (const { operation } of operations()) expect(operation.operationId).toMatch(/^[a-z]+[A-Z][A-Za-z]+$/)
  })

  plain('operation ids are overridden for existing endpoints only', () => {
    const known = new Set(endpoints.map(({ method, path }) => `${method} ${path}`))
    expect(Object.keys(namedOperations).filter((named) => !known.has(named))).toEqual([])
  })

  plain('summaries of operations have one to six words and begin with a verb', () => {
    const verbs =
      /^(Accept|Activate|Add|Approve|Archive|Ban|Block|Cancel|Check|Cherry-pick|Compare|Confirm|Create|Deactivate|Delete|Disable|Download|Enable|Find|Follow|Fork|Get|Invite|List|Mark|Merge|Preview|Promote|Protect|Rebase|Regenerate|Remove|Reply|Request|Reset|Resolve|Restore|Revert|Revoke|Rotate|Search|Set|Share|Star|Start|Subscribe|Transfer|Unarchive|Unban|Unblock|Unfollow|Unprotect|Unshare|Unstar|Unsubscribe|Update|Upload) /
    for (const { operation } of operations()) {
      expect(operation.summary).toMatch(verbs)
      expect(operation.summary.split(' ').length, operation.summary).toBeLessThanOrEqual(6)
    }
  })

  plain('descriptions of operations and tags are full sentences or absent', () => {
    for (const { operation } of operations())
      if (operation.description !== undefined) expect(operation.description).toMatch(/^[A-Z`].*[.]$/)
    const names = whole.tags.map(({ name }: any) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, description } of whole.tags) expect(description, name).toMatch(/^[A-Z].{10,}[^.]$/)
    for (const { operation } of operations()) expect(names).toContain(operation.tags[0])
  })

  plain('the version is the release of the product, and the description names the API version', () => {
    expect(whole.info).toMatchObject({ version: '1', description: expect.stringContaining('version 2 of the API') })
  })

  plain('every path parameter is declared', () => {
    for (const { path, verb, operation } of operations()) {
      const named = operation.parameters.filter((each: any) => each.in === 'path').map((each: any) => each.name)
      expect(named.sort(), `${verb} ${path}`).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort())
    }
  })

  plain('every $ref resolves', () => {
    for (const [at, { $ref }] of objectsOf(whole)) {
      if ($ref === undefined) continue
      const found = String($ref)
        .slice(2)
        .split('/')
        .reduce((inner: any, name) => inner?.[name], whole)
      expect(found, `${at} → ${$ref}`).toBeDefined()
    }
  })

  plain('schemas use only keywords of JSON Schema and OpenAPI', () => {
    const known = new Set(
      'type format enum const anyOf items properties required additionalProperties patternProperties default minimum maximum minLength maxLength pattern minItems maxItems maxProperties description deprecated writeOnly examples x-tier $ref'.split(
        ' ',
      ),
    )
    const schemas = [...objectsOf(whole)].filter(
      ([at]) =>
        /\/(schema|schemas\/\w+|items|properties\/[\w-]+|anyOf\/\d+)$/.test(at) &&
        !at.endsWith('/properties/properties'),
    )
    expect(schemas.length).toBeGreaterThan(500)
    for (const [at, schema] of schemas) {
      if (/\/components\/schemas$/.test(at)) continue
      expect(
        Object.keys(schema).filter((keyword) => !known.has(keyword)),
        at,
      ).toEqual([])
    }
  })

  plain('schemas of records allow no additional properties, at any depth', () => {
    for (const [name, schema] of Object.entries<any>(whole.components.schemas)) {
      for (const [at, inner] of objectsOf(schema, name)) {
        if (inner['type'] === 'object' && inner['properties']) expect(inner['additionalProperties'], at).toBe(false)
      }
    }
  })

  plain('D1-TIER-OFFER: fields and parameters that the plan does not offer are omitted', () => {
    const free = openApiDocument(areas, { plan: 'free', version: '1', apiVersion: '2' }) as any
    expect(whole.components.schemas.Project.properties).toHaveProperty('approvals_before_merge')
    expect(free.components.schemas.Project.properties).not.toHaveProperty('approvals_before_merge')
    expect([...objectsOf(free)].filter(([, each]) => 'x-tier' in each)).toEqual([])
  })

  const handle = async () => undefined as any
  const shape = (more: object) =>
    openApiDocument(
      {
        projects: [
          endpoint({
            method: 'POST',
            path: '/things/:name',
            summary: 'Thing',
            subject: instance,
            allow: 'use',
            returns: null,
            handle,
            ...more,
          }),
        ],
      },
      { plan: 'ultimate', version: '1', apiVersion: '2' },
    ) as any
  const bodyOf = (document: any) => document.paths['/things/{name}'].post.requestBody

  plain('parameters are plain JSON Schema', () => {
    const document = shape({
      params: Params({
        name: Text(),
        ref: Filled(),
        sort: OneOf(['asc', 'desc'], { default: 'asc' }),
        note: Optional(Nullable(Text({ description: 'Note', tier: 'premium' }))),
        labels: Optional(CommaList(Text())),
        assignee_id: Optional(WholeOr(['None', 'Any'])),
        old: Optional(Flag({ deprecated: true })),
      }),
    })
    const { schema } = bodyOf(document).content['application/json']
    expect(schema).toEqual({
      type: 'object',
      required: ['ref'],
      properties: {
        ref: { type: 'string' },
        sort: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
        note: { type: ['string', 'null'], description: 'Note', 'x-tier': 'premium' },
        labels: { type: 'array', items: { type: 'string' } },
        assignee_id: { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['None', 'Any'] }] },
        old: { type: 'boolean', deprecated: true },
      },
    })
    expect(document.paths['/things/{name}'].post.parameters[0]).toEqual({
      name: 'name',
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })
  })

  plain('D1-ARRAY-HASH-NAMES: query lists and hashes are declared in the syntax in which they are sent', () => {
    const document = shape({
      method: 'GET',
      params: Params({
        name: Text(),
        ids: Optional(List(Text())),
        words: Optional(CommaList(Text())),
        custom: Optional(Hash(Text())),
      }),
    })
    expect(document.paths['/things/{name}'].get.parameters).toMatchObject([
      { name: 'name' },
      { $ref: '#/components/parameters/sudo' },
      { name: 'ids[]', schema: { type: 'array' } },
      { name: 'words', style: 'form', explode: false },
      { name: 'custom', style: 'deepObject', explode: true },
    ])
  })

  plain('files are declared in multipart forms only', () => {
    const wanted = bodyOf(shape({ params: Params({ name: Text(), file: Upload() }) }))
    expect(Object.keys(wanted.content)).toEqual(['multipart/form-data'])
    const possible = bodyOf(shape({ params: Params({ name: Text(), title: Text(), avatar: Optional(Upload()) }) }))
    expect(possible.content['application/json'].schema.properties).toEqual({ title: { type: 'string' } })
    expect(possible.content['multipart/form-data'].schema.properties).toMatchObject({ avatar: { format: 'binary' } })
  })

  plain('bytes, headers, pages and HEAD are declared', () => {
    const bytes = shape({ method: 'GET', returns: raw('application/octet-stream'), headers: { 'X-Size': 'Bytes' } })
      .paths['/things/{name}']
    expect(bytes.get.responses['200']).toMatchObject({
      headers: { 'X-Size': {} },
      content: { 'application/octet-stream': {} },
    })
    expect(bytes.head.operationId).toBe('headThing')
    expect(bytes.head.responses['200']).not.toHaveProperty('content')
    const Thing = entity({
      name: 'Thing',
      schema: Type.Object({ at: nullable(Type.String()) }),
      present: (row: { at: string }) => row,
    })
    const list = shape({ method: 'GET', paged: true, returns: Thing })
    expect(list.paths['/things/{name}'].get.responses['200']).toMatchObject({
      headers: { 'X-Total': {}, Link: {} },
      content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } } },
    })
    expect(list.components.schemas.Thing).toEqual({
      type: 'object',
      required: ['at'],
      properties: { at: { type: ['string', 'null'] } },
      additionalProperties: false,
    })
  })

  plain('two records of the same name are refused', () => {
    const make = () => entity({ name: 'Twin', schema: Type.Object({}), present: () => ({}) })
    const one = { method: 'GET', summary: '', subject: instance, allow: 'browse', handle } as const
    expect(() =>
      openApiDocument(
        {
          projects: [
            endpoint({ ...one, path: '/a', returns: make() }),
            endpoint({ ...one, path: '/b', returns: make() }),
          ],
        },
        { plan: 'free', version: '1', apiVersion: '2' },
      ),
    ).toThrow('two records are called Twin')
  })
})

describe('published API documentation', () => {
  test('GET /openapi.json returns the document of the plan, and 304 when its ETag matches', async ({ world }) => {
    const got = await world.anonymous.get('//openapi.json')
    expect(got).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(Object.keys(got.json.paths)).toEqual(Object.keys(whole.paths))
    expect(
      await world.anonymous.get('//openapi.json', { headers: { 'if-none-match': got.headers['etag']! } }),
    ).toMatchObject({ status: 304, text: '' })
  })

  test('GET /-/docs loads nothing from another host and runs no inline script', async ({ world }) => {
    const page = await world.anonymous.get('//-/docs')
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(page.text).not.toMatch(/https?:|(src|href)="\/\//)
    const policy = page.headers['content-security-policy']
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(policy).not.toContain('unsafe-eval')
    expect(page.text.match(/<script[^>]*>[^<]+/g)).toBeNull()
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!)
    expect(loaded).toEqual(['/-/docs/swagger-ui.css', '/-/docs/swagger-ui-bundle.js', '/-/docs/start.js'])
    const [styles, viewer, start] = await Promise.all(loaded.map((path) => world.anonymous.get(`/${path}`)))
    expect(styles).toMatchObject({ status: 200, headers: { 'content-type': 'text/css; charset=utf-8' } })
    for (const script of [viewer!, start!])
      expect(script).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } })
    expect(viewer!.text).toContain('SwaggerUIBundle')
    expect(start!.text).toContain("url: '/openapi.json'")
  })
})
