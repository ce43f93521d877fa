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
import { statusOf } from '../../src/edges/http/declared.ts'
import { openApiDocument } from '../../src/edges/http/openapi/document.ts'
import { errorExamples } from '../../src/edges/http/openapi/error-examples.ts'
import { readExamples } from '../../src/edges/http/openapi/examples.ts'
import { namedOperations, operationIdOf } from '../../src/edges/http/openapi/operation-id.ts'
import { entitiesOf } from '../../src/edges/http/openapi/outputs.ts'
import { areas, endpoints } from '../../src/modules/endpoints.ts'
import { instance } from '../../src/modules/instance/instance/subject.ts'
import { checkStatus, validatorsOf } from '../answers.ts'
import { type Answer, test, unique, type World } from '../world.ts'

const examples = readExamples()
const whole = openApiDocument(areas, { plan: 'ultimate', version: '1', apiVersion: '2', examples }) as any

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

  plain('each operation has a unique operationId and the success statuses of its records', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const e of endpoints) {
      const operation = whole.paths[e.path.replace(/:(\w+)/g, '{$1}')][e.method.toLowerCase()]
      const statuses = new Set([statusOf(e), ...entitiesOf(e).flatMap(({ status }) => status ?? [])])
      expect(Object.keys(operation.responses).filter((status) => status < '300')).toEqual([...statuses].map(String))
    }
  })

  plain(
    'every operation declares what can happen to any request: 408, 413, 415, 422, 429, 503 with Retry-After, 507',
    () => {
      for (const { path, verb, operation } of operations())
        expect(Object.keys(operation.responses), `${verb} ${path}`).toEqual(
          expect.arrayContaining(['408', '413', '415', '422', '429', '503', '507']),
        )
      expect(whole.components.responses.Unavailable.headers).toHaveProperty('Retry-After')
    },
  )

  plain('a client of the tests rejects an answer whose status the document does not declare', () => {
    expect(() => checkStatus('GET', '/api/v4/projects/1?simple=true', 200)).not.toThrow()
    expect(() => checkStatus('HEAD', '/api/v4/projects/1', 404)).not.toThrow()
    expect(() => checkStatus('GET', '/api/v4/nowhere', 418)).not.toThrow()
    expect(() => checkStatus('GET', '/api/v4/projects/1?simple=true', 418)).toThrow(
      'GET /projects/:id responds with 418, which the OpenAPI document does not declare',
    )
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
      /^(Accept|Activate|Add|Apply|Approve|Archive|Ban|Block|Cancel|Check|Cherry-pick|Clone|Compare|Confirm|Create|Deactivate|Delete|Disable|Download|Enable|Find|Follow|Fork|Get|Invite|List|Mark|Merge|Move|Preview|Promote|Protect|Rebase|Regenerate|Remove|Render|Replay|Reply|Request|Resend|Reset|Resolve|Restore|Revert|Revoke|Rotate|Search|Set|Share|Star|Start|Stop|Subscribe|Test|Transfer|Unarchive|Unban|Unblock|Unfollow|Unprotect|Unshare|Unstar|Unsubscribe|Update|Upload) /
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

  plain('the version is the release of the product, and the description the one that clients read', () => {
    expect(whole.info).toMatchObject({
      version: '1',
      description: expect.stringContaining('`GET /version` reports 2,'),
    })
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
      'type format enum const anyOf items properties required additionalProperties patternProperties default minimum maximum minLength maxLength pattern maxItems maxProperties description deprecated writeOnly examples x-tier x-enum-varnames allOf $ref'.split(
        ' ',
      ),
    )
    const schemas = [...objectsOf(whole)].filter(
      ([at]) =>
        /\/(schema|schemas\/\w+|items|properties\/[\w-]+|anyOf\/\d+)$/.test(at) &&
        !/\/examples?\//.test(at) &&
        // Not a schema, or of a record with a field of that name.
        !/\/properties\/properties(\/(properties|required))?$/.test(at),
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
      if (/(Body|Form)$/.test(name)) continue
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
  const schemaOf = (document: any, mediaType: string) =>
    document.components.schemas[bodyOf(document).content[mediaType].schema.$ref.split('/').at(-1)]

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
    expect(schemaOf(document, 'application/json')).toEqual({
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
    const document = shape({ params: Params({ name: Text(), title: Text(), avatar: Optional(Upload()) }) })
    const wanted = bodyOf(shape({ params: Params({ name: Text(), file: Upload() }) }))
    expect(Object.keys(wanted.content)).toEqual(['multipart/form-data'])
    expect(schemaOf(document, 'application/json').properties).toEqual({ title: { type: 'string' } })
    expect(schemaOf(document, 'multipart/form-data').allOf).toMatchObject([
      { $ref: bodyOf(document).content['application/json'].schema.$ref },
      { properties: { avatar: { format: 'binary' } } },
    ])
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

  /** Every parameter, and every field of a record or body, with the way to it. */
  function* described(): Generator<[at: string, name: string, schema: Record<string, any>]> {
    for (const [at, object] of objectsOf(whole)) {
      if (/\/examples?\b/.test(at)) continue
      if (object['in'] !== undefined && object['schema'] !== undefined) yield [at, object['name'], object]
      const isSchema = object['type'] === 'object' || object['allOf'] !== undefined
      // The fields of a record, of which one may be called `properties`, are no record.
      if (isSchema || (object['properties'] !== undefined && !at.endsWith('/properties')))
        for (const [name, field] of Object.entries<any>(object['properties'] ?? {}))
          yield [`${at}/${name}`, name, field]
    }
  }

  plain('describes every parameter and field in more than its name', () => {
    // "Title" and "The title" tell a client author nothing that the name does not.
    const empty = [...described()].filter(([, , { description = '' }]) => description.split(/\s+/).length < 3)
    expect(empty.map(([at, , { description }]) => `${at}: ${description}`)).toEqual([])
    expect([...described()].length).toBeGreaterThan(4000)
  })

  plain('enumerates states, levels, orders and scopes', () => {
    const closed = /^(state|status|visibility|sort|order_by|access_level|group_access|merge_status|level|scopes?|kind)$/
    // A list of scopes in one text, and a membership.
    const open = ['/components/schemas/RequestError/scope', '/components/schemas/ProjectPermissions/group_access']
    const missing = [...described()].filter(([at, name, { schema, ...field }]) => {
      const { enum: values, items, const: only } = schema ?? field
      return closed.test(name) && !open.includes(at) && !(values ?? items?.enum ?? only)
    })
    expect(missing.map(([at]) => at)).toEqual([])
  })

  plain('names the access levels of an enumeration for people and for generators', () => {
    expect(whole.components.schemas.Member.properties.access_level).toEqual({
      type: 'integer',
      enum: [10, 20, 30, 40, 50],
      'x-enum-varnames': ['GUEST', 'REPORTER', 'DEVELOPER', 'MAINTAINER', 'OWNER'],
      description: 'Access level of the member: 10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner',
    })
  })

  plain('refers to a named schema from each body', () => {
    for (const { path, verb, operation } of operations())
      for (const [mediaType, { schema }] of Object.entries<any>(operation.requestBody?.content ?? {}))
        expect(Object.keys(schema), `${verb} ${path} ${mediaType}`).toEqual(['$ref'])
  })

  plain('refers to records within records by name', () => {
    const { Todo, MergeRequest } = whole.components.schemas
    expect(Todo.properties.target).toMatchObject({
      anyOf: [
        { $ref: '#/components/schemas/Issue' },
        { $ref: '#/components/schemas/MergeRequest' },
        { $ref: '#/components/schemas/Epic' },
        { $ref: '#/components/schemas/Commit' },
      ],
    })
    expect(MergeRequest.properties.author).toMatchObject({ $ref: '#/components/schemas/UserReference' })
  })

  plain('has an example of each JSON answer, which fits the declaration', () => {
    const wanted = endpoints.filter((e) => validatorsOf(e).length > 0)
    const known = new Set(wanted.map(operationIdOf))
    expect(Object.keys(examples).filter((each) => !known.has(each))).toEqual([])
    const missing = wanted.filter((e) => !validatorsOf(e).some((each) => each.Check(examples[operationIdOf(e)])))
    expect(missing.map(operationIdOf)).toEqual([])
  })

  plain('has examples without secrets, and without traces of the machine that made them', () => {
    const text = JSON.stringify(examples)
    expect(text).not.toMatch(/127\.0\.0\.1|\/tmp\/|BEGIN [A-Z ]*PRIVATE/)
    for (const [at, record] of objectsOf(examples))
      for (const [name, value] of Object.entries(record))
        if (/(^|_)(token|secret|password)$/.test(name) && typeof value === 'string')
          expect(['', 'example-secret'], `${at}/${name}`).toContain(value)
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

describe('the examples of errors are what the service answers:', () => {
  const tests: Record<string, Record<string, (world: World) => Promise<Answer>>> = {
    BadRequest: {
      'missing-parameter': ({ root }) => root.post('/user/terms/accept'),
      'invalid-parameter': ({ root }) => root.get('/users?active=perhaps'),
      'unknown-value': ({ root }) => root.get('/projects?sort=up'),
      async 'failed-validation'(world) {
        const { path, full_path } = await world.project()
        const namespace = await world.root.get(
          `/namespaces/${encodeURIComponent(full_path.slice(0, -path.length - 1))}`,
        )
        return world.root.post('/projects', { name: unique('other'), path, namespace_id: namespace.json.id })
      },
    },
    Unauthenticated: {
      'no-token': ({ anonymous }) => anonymous.get('/user'),
      async 'revoked-token'(world) {
        const ann = await world.user()
        await ann.delete('/personal_access_tokens/self')
        return ann.get('/user')
      },
    },
    Forbidden: {
      'missing-permission': async (world) => (await world.user()).get('/application/settings'),
      'missing-scope': async (world) =>
        (await world.as(await world.user(), ['read_api'])).post('/projects', { name: unique('x') }),
    },
    NotFound: {
      'unknown-resource': ({ root }) => root.get('/projects/999999999'),
      'unknown-path': ({ root }) => root.get('/nowhere'),
    },
    NotAllowed: { 'unknown-method': ({ root }) => root.send('PATCH', '/version') },
    Conflict: {
      async 'name-taken'(world) {
        const { id } = await world.project()
        await world.root.post(`/projects/${id}/labels`, { name: 'bug', color: '#ff0000' })
        return world.root.post(`/projects/${id}/labels`, { name: 'bug', color: '#ff0000' })
      },
    },
    UnsupportedMediaType: {
      'unknown-type': ({ root }) =>
        root.send('POST', '/projects', { body: 'name\nx', headers: { 'content-type': 'text/csv' } }),
    },
  }
  const cases = Object.entries(errorExamples).flatMap(([response, each]) =>
    Object.entries(each).map(([name, body]) => ({ response, name, body })),
  )
  test.for(cases)('$response, $name', async ({ response, name, body }, { world }) => {
    const statuses = Object.values<any>(whole.paths['/projects/{id}/labels'].post.responses)
    expect(statuses).toContainEqual({ $ref: `#/components/responses/${response}` })
    expect(await tests[response]![name]!(world)).toMatchObject({ json: body })
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
    expect(loaded).toEqual([
      '/-/docs/swagger-ui.css',
      '/-/docs/style.css',
      '/-/docs/swagger-ui-bundle.js',
      '/-/docs/start.js',
    ])
    const [styles, , viewer, start] = await Promise.all(loaded.map((path) => world.anonymous.get(`/${path}`)))
    expect(styles).toMatchObject({ status: 200, headers: { 'content-type': 'text/css; charset=utf-8' } })
    for (const script of [viewer!, start!])
      expect(script).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } })
    expect(viewer!.text).toContain('SwaggerUIBundle')
    expect(start!.text).toContain("url: '/openapi.json'")
  })
})
