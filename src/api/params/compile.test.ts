import { Type } from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { compileParams } from './compile.ts'
import type { ParamsOf } from './params-of.ts'
import type { RawParams } from './raw.ts'
import { outcome } from './testing.ts'
import {
  CommaList,
  DateOnly,
  File,
  Filled,
  Flag,
  Id,
  List,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
  Whole,
} from './types.ts'

describe('missing, empty and null values', () => {
  const update = Params({
    name: Optional(Text()),
    bio: Optional(Nullable(Text())),
    due: Optional(Nullable(DateOnly())),
    page: Whole({ default: 1 }),
    ids: Optional(List(Id())),
    avatar: Optional(Nullable(File())),
  })

  test.for([
    ['absent parameters stay absent, defaults are added', 'PUT', {}, { page: 1 }],
    [
      'null clears a nullable parameter on PUT',
      'PUT',
      { bio: null, due: null, avatar: null },
      { bio: null, due: null, avatar: null, page: 1 },
    ],
    ['null clears a nullable parameter on PATCH', 'PATCH', { due: null }, { due: null, page: 1 }],
    ['null counts as absent on PUT for other parameters', 'PUT', { name: null, page: null }, { page: 1 }],
    ['null counts as absent on POST', 'POST', { name: null, bio: null, due: null, page: null, ids: null }, { page: 1 }],
    ['null counts as absent on GET', 'GET', { due: null, page: null, ids: null }, { page: 1 }],
    ['an empty text is a text', 'PUT', { name: '', bio: '' }, { name: '', bio: '', page: 1 }],
    ['an empty value clears other types on PUT', 'PUT', { due: '', avatar: '' }, { due: null, avatar: null, page: 1 }],
    ['an empty value counts as absent for other types', 'GET', { due: '', page: '', ids: '' }, { page: 1 }],
    [
      'an empty value counts as absent on POST, or as an empty list',
      'POST',
      { due: '', page: '', ids: '' },
      { page: 1, ids: [] },
    ],
    ['null empties a list on PUT', 'PUT', { ids: null }, { ids: [], page: 1 }],
    ['a form sends an empty list as one blank element', 'PUT', { ids: [''] }, { ids: [], page: 1 }],
    ['unknown parameters are dropped', 'PUT', { admin: 'true', constructor: 'x', toString: 'y' }, { page: 1 }],
  ] as const)('parameter values: %s (%s)', ([, method, raw, expected]) => {
    expect(outcome(update, raw as unknown as RawParams, method)).toStrictEqual(expected)
  })

  const filters = Params({
    name: Optional(Text()),
    names: Optional(List(Text())),
    labels: Optional(CommaList(Text())),
    exact: Optional(Text({ emptyMatches: true })),
    ref: Optional(Filled()),
    order: Optional(OneOf(['name', 'id'])),
  })

  test.for([
    ['texts', { name: '' }, {}],
    ['lists', { names: '', labels: '' }, {}],
    ['elements of lists', { names: [''], labels: [''] }, {}],
    ['elements beside others', { names: ['', 'a'], labels: 'a,,b' }, { names: ['a'], labels: ['a', 'b'] }],
    ['texts that match as they are', { exact: '' }, { exact: '' }],
    ['texts that must not be blank', { ref: '' }, 'ref is empty'],
    ['words of an enumeration', { order: '' }, 'order does not have a valid value'],
  ] as const)('empty values count as absent in requests that read: %s', ([, raw, expected]) => {
    expect(outcome(filters, raw as unknown as RawParams, 'GET')).toEqual(expected)
  })

  const create = Params({
    branch: Text(),
    ref: Filled(),
    start: DateOnly(),
    ids: List(Id(), { blank: false }),
  })

  test.for([
    ['nothing', 'POST', {}, 'branch is missing, ref is missing, start is missing, ids is missing'],
    [
      'null on POST',
      'POST',
      { branch: null, ref: null, start: null, ids: null },
      'branch is missing, ref is missing, start is missing, ids is missing',
    ],
    [
      'null on PUT',
      'PUT',
      { branch: null, ref: null, start: null, ids: null },
      'branch is empty, ref is empty, start is empty, ids is empty',
    ],
    ['emptiness', 'POST', { branch: '', ref: '', start: '', ids: '' }, 'ref is empty, start is empty, ids is empty'],
    [
      'blanks',
      'POST',
      { branch: ' ', ref: ' \t', start: ' ', ids: [] },
      'ref is empty, start is invalid, ids is empty',
    ],
  ] as const)('400 for required parameters given as %s (%s)', ([, method, raw, expected]) => {
    expect(outcome(create, raw as unknown as RawParams, method)).toBe(expected)
  })

  test('a list default is a new list each time', () => {
    const read = compileParams(Params({ ids: List(Id(), { default: [1] }) }))
    read({}).ids.push(2)
    expect(read({})).toEqual({ ids: [1] })
  })

  test('a parameter cannot have the name of an Object.prototype member', () => {
    expect(() => compileParams(Params({ constructor: Text() }))).toThrow(TypeError)
  })
})

describe('rules over several parameters', () => {
  const some = Params({ name: Optional(Text()), path: Optional(Text()) }, { atLeastOneOf: ['name', 'path'] })
  const one = Params({ body: Optional(Text()), resolved: Optional(Flag()) }, { exactlyOneOf: ['body', 'resolved'] })
  const author = { author_id: Optional(Id()), author_username: Optional(Text()) }
  const exclusive = Params(author, { mutuallyExclusive: [['author_id', 'author_username']] })
  const all = Params(
    { extern_uid: Optional(Text()), provider: Optional(Text()) },
    { allOrNone: ['extern_uid', 'provider'] },
  )
  const closed = Params(
    { name: Optional(Text()), nested: Optional(Params({}, { noOthers: true })) },
    { noOthers: true },
  )

  test('noOthers refuses names that are not declared, except those of every request', () => {
    const read = compileParams(closed)
    expect(read({ name: 'x', private_token: 'x', access_token: 'x', sudo: 'x' })).toEqual({ name: 'x' })
    expect(() => read({ nmae: 'x', toString: 'x' })).toThrow('nmae is unknown, toString is unknown')
    expect(() => read({ nested: { a: 1 } })).toThrow('nested[a] is unknown')
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${n} ${'x'.repeat(1000)}`, 'x']))
    const message = (given: object) => {
      try {
        read(given as never)
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(message(many).length).toBeLessThan(20_000)
  })

  const nested = Params({ a: Params(author, { mutuallyExclusive: [['author_id', 'author_username']] }) })

  const needing = Params(
    { do: OneOf(['move', 'stay']), to: Optional(Text()) },
    { needed: [{ name: 'do', is: 'move', needs: 'to' }] },
  )

  const moved = Params({ before: Optional(Id()), after: Optional(Id()) }, { atLeastOneValueOf: ['before', 'after'] })

  test.for([
    ['counts on PUT for a parameter that it does not clear', some, 'PUT', { name: null }, {}],
    ['counts on PATCH', some, 'PATCH', { path: null }, {}],
    [
      'counts as absent on POST',
      some,
      'POST',
      { name: null },
      'name, path are missing, at least one parameter must be provided',
    ],
    [
      'does not count on PUT where one must have a value',
      moved,
      'PUT',
      { before: null, after: null },
      'before, after are missing, at least one parameter must be provided',
    ],
    [
      'does not make another value exclusive on PUT',
      exclusive,
      'PUT',
      { author_id: 1, author_username: null },
      { author_id: 1 },
    ],
  ] as const)('null where at least one parameter is required %s', ([, schema, method, raw, expected]) => {
    expect(outcome(schema as typeof some, raw as RawParams, method)).toEqual(expected)
  })

  test.for([
    ['a parameter without the one it requires', needing, { do: 'move' }, 'to is missing'],
    ['a parameter with the one it requires', needing, { do: 'move', to: '' }, { do: 'move', to: '' }],
    ['a parameter required unless another is given', needing, { do: 'stay' }, { do: 'stay' }],
    ['an invalid parameter that would require another', needing, { do: 'x' }, 'do does not have a valid value'],
    [
      'none of the parameters of which one is required',
      some,
      {},
      'name, path are missing, at least one parameter must be provided',
    ],
    ['one of the parameters of which one is required', some, { path: '' }, { path: '' }],
    ['both parameters of which one is required', some, { name: 'a', path: 'b' }, { name: 'a', path: 'b' }],
    [
      'none of two exclusive parameters of which one is required',
      one,
      {},
      'body, resolved are missing, exactly one parameter must be provided',
    ],
    [
      'both exclusive parameters of which one is required',
      one,
      { body: 'a', resolved: '1' },
      'body, resolved are mutually exclusive',
    ],
    ['an invalid one of two exclusive parameters', one, { resolved: 'x' }, 'resolved is invalid'],
    [
      'two mutually exclusive parameters',
      exclusive,
      { author_id: 1, author_username: 'a' },
      'author_id, author_username are mutually exclusive',
    ],
    [
      'one of two parameters required together',
      all,
      { provider: 'x' },
      'extern_uid, provider provide all or none of parameters',
    ],
    ['none of two parameters required together', all, {}, {}],
    [
      'a rule within a hash',
      nested,
      { a: { author_id: 1, author_username: 'a' } },
      'a[author_id], a[author_username] are mutually exclusive',
    ],
  ] as const)('parameter rule: %s', ([, schema, raw, expected]) => {
    expect(outcome(schema, raw as RawParams, 'POST')).toEqual(expected)
  })
})

describe('D1-TIER-OFFER', () => {
  const schema = Params(
    { weight: Optional(Nullable(Whole({ tier: 'starter' }))), epic_id: Optional(Id({ tier: 'ultimate' })) },
    { atLeastOneOf: ['weight', 'epic_id'] },
  )

  test.for([
    ['free', {}],
    ['starter', { weight: 1 }],
    ['premium', { weight: 1 }],
    ['ultimate', { weight: 1, epic_id: 2 }],
  ] as const)('on the plan %s, parameters of higher plans are unknown names', ([plan, expected]) => {
    expect(compileParams(schema, { plan })({ weight: '1', epic_id: '2' })).toEqual(expected)
  })

  test('a rule over unknown names only always passes', () => {
    expect(compileParams(schema, { plan: 'free' })({})).toEqual({})
  })
})

describe('parameter declarations', () => {
  const schema = Params({
    ref: Text({ description: 'Branch' }),
    page: Whole({ default: 1 }),
    since: Optional(Timestamp()),
    due: Optional(Nullable(DateOnly())),
    sort: OneOf(['asc', 'desc'], { default: 'desc' }),
    actions: Optional(List(Params({ force: Optional(Flag({ default: false })) }))),
  })

  test('parameter types include defaults', () => {
    expectTypeOf<ParamsOf<typeof schema>>().toEqualTypeOf<{
      ref: string
      page: number
      since?: Date
      due?: string | null
      sort: 'asc' | 'desc'
      actions?: { force: boolean }[]
    }>()
  })

  test('a parameter declaration is a JSON schema in which parameters with a default are optional', () => {
    expect(JSON.parse(JSON.stringify(schema))).toMatchObject({
      required: ['ref'],
      properties: {
        ref: { type: 'string', description: 'Branch' },
        since: { type: 'string', format: 'date-time' },
        due: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
        sort: { enum: ['asc', 'desc'], default: 'desc' },
      },
    })
  })

  test('a parameter declaration can be plain TypeBox', () => {
    const plain = Type.Object({
      name: Type.String(),
      ids: Type.Optional(Type.Array(Type.Integer())),
      level: Type.Optional(Type.Union([Type.Literal(10), Type.Literal(20), Type.Null()])),
      extra: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
    })
    const raw: RawParams = { name: 'a', ids: ['1'], level: '10', extra: { a: 'yes' } }
    expect(outcome(plain, raw)).toEqual({ name: 'a', ids: [1], level: 10, extra: { a: true } })
    expect(outcome(plain, { name: 'a', level: null }, 'PUT')).toEqual({ name: 'a', level: null })
    expect(outcome(plain, { level: 15 })).toBe('name is missing, level does not have a valid value')
  })
})
