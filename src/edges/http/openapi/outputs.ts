import { needsAccount } from '../../../access/policy.ts'
import type { Endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { statusOf } from '../mount.ts'

const ref = (kind: 'schemas' | 'responses' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` })

/** Records that an endpoint answers with. */
export const entitiesOf = ({ returns }: Endpoint): readonly Entity<any>[] =>
  returns === null || 'raw' in returns
    ? []
    : 'variants' in returns
      ? returns.variants
      : ['list' in returns ? returns.list : returns]

const pageHeaders = ['X-Page', 'X-Per-Page', 'X-Next-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages', 'Link'] as const

const text = (description: string) => ({ description, schema: { type: 'string' } })
const number = (description: string) => ({ description, schema: { type: 'integer' } })

/** Headers of lists, described once. */
export const headerComponents = {
  'X-Page': number('Number of this page'),
  'X-Per-Page': number('Entries a page'),
  'X-Next-Page': text('Number of the next page; empty on the last'),
  'X-Prev-Page': text('Number of the page before; empty on the first'),
  'X-Total': number('Entries of the whole list; absent above 10,000 and with keyset paging'),
  'X-Total-Pages': number('Pages of the whole list, at least 1; absent above 10,000 entries and with keyset paging'),
  Link: text('Addresses of other pages: prev, next, first, last'),
}

/** Every answer of an endpoint by status. */
export function responsesOf(e: Endpoint): Record<string, object> {
  return {
    [String(statusOf(e))]: success(e),
    ...(e.unchanged !== undefined && { '304': { description: e.unchanged } }),
    ...failures(e),
    ...(e.notAcceptable !== undefined && { '406': failure(e.notAcceptable, 'OperationError') }),
  }
}

function success(e: Endpoint): object {
  const { returns, paged, summary } = e
  const description = summary
  const headers = {
    ...(paged && Object.fromEntries(pageHeaders.map((name) => [name, ref('headers', name)]))),
    ...Object.fromEntries(Object.entries(e.headers ?? {}).map(([name, about]) => [name, text(about)])),
  }
  const said = { description, ...(Object.keys(headers).length > 0 && { headers }) }
  if (returns === null) return said
  if ('raw' in returns) {
    const isText = returns.raw.startsWith('text/')
    return {
      ...said,
      content: { [returns.raw]: { schema: isText ? { type: 'string' } : { type: 'string', format: 'binary' } } },
    }
  }
  const records = entitiesOf(e).map(({ name }) => ref('schemas', name))
  const record = records.length === 1 ? records[0]! : { anyOf: records }
  const isList = paged || 'list' in returns
  return { ...said, content: { 'application/json': { schema: isList ? { type: 'array', items: record } : record } } }
}

/** Names of the shared failures an endpoint may answer with, by status. */
function failures(e: Endpoint): Record<string, object> {
  const writes = e.method !== 'GET'
  const rule = e.subject.policy[e.allow]!
  const named = e.path.includes(':')
  const answers: [status: number, name: string, when: boolean][] = [
    [400, 'BadRequest', true],
    [401, 'Unauthenticated', true],
    [403, 'Forbidden', true],
    [404, 'NotFound', named || writes || needsAccount(rule)],
    [405, 'NotAllowed', writes || e.paged === true],
    [409, 'Conflict', writes],
    [412, 'PreconditionFailed', e.changedAt !== undefined],
    [413, 'TooLarge', writes && e.method !== 'DELETE'],
    [415, 'UnsupportedMediaType', writes && e.method !== 'DELETE'],
    [422, 'Unprocessable', writes],
    [429, 'TooManyRequests', true],
  ]
  return Object.fromEntries(
    answers.filter(([, , when]) => when).map(([status, name]) => [String(status), ref('responses', name)]),
  )
}

const sentence = { type: 'string' }
const words = { type: 'array', items: sentence }

/** The two shapes of failures; they are never mixed. */
export const errorSchemas = {
  OperationError: {
    description: 'Said by the operation',
    type: 'object',
    properties: {
      message: {
        description: 'A sentence, several, or complaints by the name of the field',
        anyOf: [sentence, words, { type: 'object', additionalProperties: { anyOf: [sentence, words] } }],
      },
      error_code: {
        type: 'string',
        description: 'For cherry-picks and reverts: `conflict`, or `empty` when nothing would change',
      },
    },
    required: ['message'],
    additionalProperties: false,
  },
  RequestError: {
    description: 'Said by whoever reads parameters, tokens and paths',
    type: 'object',
    properties: {
      error: { anyOf: [sentence, words] },
      error_description: sentence,
      scope: { type: 'string', description: 'Scopes of which each would have been enough, with blanks between' },
    },
    required: ['error'],
    additionalProperties: false,
  },
}

type Shape = keyof typeof errorSchemas

const failure = (description: string, ...shapes: readonly Shape[]) => {
  const schemas = shapes.map((name) => ref('schemas', name))
  return {
    description,
    content: { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
  }
}

export const errorResponses = {
  BadRequest: failure(
    'A parameter is missing or wrong (`error`), or the record breaks a rule (`message`)',
    'RequestError',
    'OperationError',
  ),
  Unauthenticated: {
    ...failure(
      'No token, or one that is unknown (`message`), expired or revoked (`error`)',
      'OperationError',
      'RequestError',
    ),
    headers: { 'WWW-Authenticate': text('With expired and revoked tokens') },
  },
  Forbidden: failure(
    'The caller may not (`message`), or the token may not (`error`)',
    'OperationError',
    'RequestError',
  ),
  NotFound: failure('There is no such thing, or the caller may not know of it', 'OperationError', 'RequestError'),
  NotAllowed: failure(
    'Not in this state (`message`), or not with this paging (`error`)',
    'OperationError',
    'RequestError',
  ),
  Conflict: failure('Something else has that name, or changed it meanwhile', 'OperationError'),
  PreconditionFailed: failure('It changed after the time in If-Unmodified-Since', 'OperationError'),
  TooLarge: failure('The body is too large', 'OperationError'),
  UnsupportedMediaType: failure('The body is neither JSON nor a form', 'RequestError'),
  Unprocessable: failure('The request is well-formed and cannot be fulfilled', 'RequestError'),
  TooManyRequests: {
    description: 'The caller has reached a limit',
    headers: { 'Retry-After': number('Seconds to wait') },
    content: {
      'text/plain': { schema: { type: 'string', const: 'Retry later\n' } },
      'application/json': { schema: ref('schemas', 'OperationError') },
    },
  },
}
