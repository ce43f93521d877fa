import type { Endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { statusOf } from '../declared.ts'
import { errorExamples } from './error-examples.ts'

const ref = (kind: 'schemas' | 'responses' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` })

/** Entities that an endpoint returns. */
export const entitiesOf = ({ returns }: Endpoint): readonly Entity<any>[] =>
  returns === null || 'raw' in returns
    ? []
    : 'variants' in returns
      ? returns.variants
      : ['list' in returns ? returns.list : returns]

const pageHeaders = ['X-Page', 'X-Per-Page', 'X-Next-Page', 'X-Prev-Page', 'X-Total', 'X-Total-Pages', 'Link'] as const

const text = (description: string) => ({ description, schema: { type: 'string' } })
const number = (description: string) => ({ description, schema: { type: 'integer' } })

/** Headers of lists, shared by all operations. */
export const headerComponents = {
  'X-Page': number('Page number'),
  'X-Per-Page': number('Items per page'),
  'X-Next-Page': text('Next page number; empty on the last page'),
  'X-Prev-Page': text('Previous page number; empty on the first page'),
  'X-Total': number('Total number of items; absent above 10,000 items and with keyset pagination'),
  'X-Total-Pages': number('Total number of pages, at least 1; absent above 10,000 items and with keyset pagination'),
  Link: text('URLs of other pages: prev, next, first, last'),
}

/** Every response of an endpoint by status; `example` is an answer to it, or undefined. */
export function responsesOf(e: Endpoint, example: unknown): Record<string, object> {
  const usual = entitiesOf(e).filter(({ status }) => status === undefined)
  const others = entitiesOf(e).filter(({ status }) => status !== undefined)
  return {
    [String(statusOf(e))]: success(e, usual, example),
    ...Object.fromEntries(others.map((each) => [String(each.status), success(e, [each], undefined)])),
    ...shared(e),
    ...(e.unchanged !== undefined && { '304': { description: e.unchanged } }),
    ...(e.notAcceptable !== undefined && { '406': failure(e.notAcceptable, 'OperationError') }),
  }
}

/** The description of a success: what the body holds. */
function successOf(e: Endpoint, entities: readonly Entity<any>[]): string {
  const { returns, paged } = e
  if (returns === null) return 'Success without content'
  if ('raw' in returns) return `Content of type ${returns.raw}`
  const names = entities.map(({ name }) => name).join(' or ')
  if (paged) return `A page of ${names} records`
  return 'list' in returns
    ? `A list of ${names} records`
    : `${names} record${e.empty === undefined ? '' : `; ${e.empty}`}`
}

function success(e: Endpoint, entities: readonly Entity<any>[], example: unknown): object {
  const { returns, paged } = e
  const description = successOf(e, entities)
  const headers = {
    ...(paged && Object.fromEntries(pageHeaders.map((name) => [name, ref('headers', name)]))),
    ...Object.fromEntries(Object.entries(e.headers ?? {}).map(([name, about]) => [name, text(about)])),
  }
  const common = { description, ...(Object.keys(headers).length > 0 && { headers }) }
  if (returns === null) return common
  if ('raw' in returns) {
    const isText = returns.raw.startsWith('text/')
    return {
      ...common,
      content: { [returns.raw]: { schema: isText ? { type: 'string' } : { type: 'string', format: 'binary' } } },
    }
  }
  const records = entities.map(({ name }) => ref('schemas', name))
  const choices = e.empty === undefined ? records : [...records, { type: 'null' }]
  const record = choices.length === 1 ? choices[0]! : { anyOf: choices }
  const isList = paged || 'list' in returns
  const schema = isList ? { type: 'array', items: record } : record
  return { ...common, content: { 'application/json': { schema, ...(example !== undefined && { example }) } } }
}

/** Responses that endpoints share, by status. */
function shared(e: Endpoint): Record<string, object> {
  const writes = e.method !== 'GET'
  const answers: [status: number, name: string, when: boolean][] = [
    [304, 'NotModified', !writes && e.returns !== null && !('raw' in e.returns)],
    [400, 'BadRequest', true],
    [401, 'Unauthenticated', true],
    [403, 'Forbidden', true],
    // Also for what a parameter names.
    [404, 'NotFound', true],
    [405, 'NotAllowed', writes || e.paged === true],
    // A body is read whatever the method.
    [408, 'TooSlow', true],
    // Also of a variable whose key several environments have.
    [409, 'Conflict', true],
    [412, 'PreconditionFailed', e.changedAt !== undefined],
    [413, 'TooLarge', true],
    [415, 'UnsupportedMediaType', true],
    [422, 'Unprocessable', true],
    [429, 'TooManyRequests', true],
    [503, 'Unavailable', true],
    [507, 'StorageFull', true],
  ]
  return Object.fromEntries(
    answers.filter(([, , when]) => when).map(([status, name]) => [String(status), ref('responses', name)]),
  )
}

const sentence = { type: 'string' }
const words = { type: 'array', items: sentence }

/** The two shapes of errors; a response has exactly one of them. */
export const errorSchemas = {
  OperationError: {
    description: 'Error of the operation',
    type: 'object',
    properties: {
      message: {
        description: 'One message, several messages, or messages by field name',
        anyOf: [sentence, words, { type: 'object', additionalProperties: { anyOf: [sentence, words] } }],
      },
      error_code: {
        type: 'string',
        enum: ['conflict', 'empty'],
        description: 'Only for cherry-picks and reverts; `empty` if the commit would change nothing',
      },
    },
    required: ['message'],
    additionalProperties: false,
  },
  RequestError: {
    description: 'Error in the parameters, the token or the path',
    type: 'object',
    properties: {
      error: {
        description: 'What is wrong: a message, a list of messages, or a code of OAuth',
        anyOf: [sentence, words],
      },
      error_description: { description: 'Explanation of a code of OAuth', ...sentence },
      scope: { type: 'string', description: 'Sufficient scopes, separated by spaces' },
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

const responses = {
  NotModified: { description: 'What the client has is current: its `If-None-Match` has the `ETag`' },
  BadRequest: failure(
    'A parameter is missing or invalid (`error`), or the record fails validation (`message`)',
    'RequestError',
    'OperationError',
  ),
  Unauthenticated: {
    ...failure(
      'The token is missing or unknown (`message`), expired or revoked (`error`)',
      'OperationError',
      'RequestError',
    ),
    headers: { 'WWW-Authenticate': text('Sent for expired and revoked tokens') },
  },
  Forbidden: failure(
    'The caller lacks permission (`message`), or the token lacks a scope (`error`)',
    'OperationError',
    'RequestError',
  ),
  NotFound: failure('The resource does not exist or is not visible to the caller', 'OperationError', 'RequestError'),
  NotAllowed: failure(
    'Not allowed in the current state (`message`) or with this pagination (`error`)',
    'OperationError',
    'RequestError',
  ),
  TooSlow: failure('The body arrived too slowly', 'OperationError'),
  Conflict: failure('The name is taken, or the resource was changed concurrently', 'OperationError'),
  PreconditionFailed: failure('The resource changed after the time in If-Unmodified-Since', 'OperationError'),
  TooLarge: failure('The body, or what was asked for, is too large', 'OperationError'),
  UnsupportedMediaType: failure('The body is neither JSON nor a form', 'RequestError'),
  Unprocessable: failure('The request is well-formed but cannot be processed', 'RequestError'),
  TooManyRequests: {
    description: 'The caller has reached a rate limit',
    headers: { 'Retry-After': number('Seconds to wait before a retry') },
    content: {
      'text/plain': { schema: { type: 'string', const: 'Retry later\n' } },
      'application/json': { schema: ref('schemas', 'OperationError') },
    },
  },
  Unavailable: {
    ...failure('The service, or a part that it needs, is busy or unavailable; a retry may succeed', 'OperationError'),
    headers: { 'Retry-After': number('Seconds to wait before a retry, if the service can tell') },
  },
  StorageFull: failure('There is no room on the disk of the service', 'OperationError'),
}

type Response = { readonly description: string; readonly content?: { readonly 'application/json': object } }

/** A response with the examples of it. */
const withExamples = (response: Response, examples: object | undefined): object =>
  examples === undefined || !response.content
    ? response
    : {
        ...response,
        content: {
          ...response.content,
          'application/json': {
            ...response.content['application/json'],
            examples: Object.fromEntries(Object.entries(examples).map(([each, value]) => [each, { value }])),
          },
        },
      }

/** Responses of errors, shared by all operations. */
export const errorResponses = Object.fromEntries(
  Object.entries(responses).map(([name, response]) => [
    name,
    withExamples(response, (errorExamples as Record<string, object>)[name]),
  ]),
)
