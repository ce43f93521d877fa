import { type Client as Connection, FormData } from 'undici'
import { expect } from 'vitest'
import { toEachWorker } from './each-worker.ts'
import { freshEnv, type Service, serve } from './service.ts'

export const rootToken = 'root-token-for-tests'

export type Answer = { status: number; json: any; total: number; etag: string | undefined }
/** A request; `token` is that of the administrator unless one is given, null for an anonymous caller. */
export type Ask = (
  method: string,
  path: string,
  body?: object | FormData,
  token?: string | null,
  headers?: Record<string, string>,
) => Promise<Answer>

/** Requests over one connection, and so to one worker. */
const asking =
  (connection: Connection): Ask =>
  async (method, path, body, token = rootToken, headers = {}) => {
    const isForm = body instanceof FormData
    const answer = await connection.request({
      method: method as 'GET',
      path,
      headers: {
        ...(token && { 'private-token': token }),
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
    })
    const text = await answer.body.text()
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    const etag = answer.headers['etag']
    return {
      status: answer.statusCode,
      json: isJson && text !== '' ? JSON.parse(text) : text,
      total: Number(answer.headers['x-total']),
      etag: etag === undefined ? undefined : String(etag),
    }
  }

/** A service with two workers, and what asks each of them. */
export async function twoWorkers(): Promise<Service & { readonly workers: readonly [Ask, Ask] }> {
  const service = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '2', STITHY_LOG_LEVEL: 'info' })
  const connections = await toEachWorker(service.launched, service.origin)
  expect([...connections.keys()].sort()).toEqual(service.launched.named('stithy worker').sort())
  return { ...service, workers: [...connections.values()].map(asking) as [Ask, Ask] }
}

/** The record that a call creates. */
export async function madeBy(ask: Ask, path: string, body: object = {}, token?: string): Promise<any> {
  const answer = await ask('POST', `/api/v4${path}`, body, token)
  expect(answer.status, `${path}: ${JSON.stringify(answer.json)}`).toBe(201)
  return answer.json
}

export const passwordOfUsers = 'correct horse battery'

export type TestUser = { readonly id: number; readonly username: string; readonly token: string }

/** A user with an access token. */
export async function userBy(ask: Ask, username: string): Promise<TestUser> {
  const { id } = await madeBy(ask, '/users', {
    username,
    name: username,
    email: `${username}@example.com`,
    password: passwordOfUsers,
    skip_confirmation: true,
  })
  const { token } = await madeBy(ask, `/users/${id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
  return { id, username, token }
}
