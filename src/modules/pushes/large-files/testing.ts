import { createHash } from 'node:crypto'
import type { Answer, Client, TestProject } from '../../../../test/world.ts'

export const lfsType = 'application/vnd.git-lfs+json'

export const oidOf = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')

/** Basic authentication header with a client's credentials, as git sends it. */
export const basic = ({ username, token }: Client): Record<string, string> =>
  token === undefined ? {} : { authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}` }

/** Calls the large-file API of a project as a client, or with the given headers. Parses the JSON of the response. */
export async function lfs(
  who: Client,
  project: Pick<TestProject, 'full_path'>,
  method: string,
  path: string,
  { json, headers = basic(who) }: { json?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await who.send(method, `//${project.full_path}.git/info/lfs/${path}`, {
    headers: { accept: lfsType, ...(json !== undefined && { 'content-type': lfsType }), ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  })
  const isJson = String(answer.headers['content-type']).startsWith(lfsType)
  return isJson ? { ...answer, json: JSON.parse(answer.text) } : answer
}

export const batch = (
  who: Client,
  project: Pick<TestProject, 'full_path'>,
  operation: string,
  contents: readonly (string | Buffer)[],
): Promise<Answer> =>
  lfs(who, project, 'POST', 'objects/batch', {
    json: {
      operation,
      transfers: ['basic'],
      ref: { name: 'refs/heads/main' },
      objects: contents.map((content) => ({ oid: oidOf(content), size: Buffer.byteLength(content) })),
    },
  })

/** Uploads a file as a client does: batch, upload, verify. Returns the status of the upload. */
export async function upload(
  who: Client,
  project: Pick<TestProject, 'full_path'>,
  content: string | Buffer,
): Promise<number> {
  const { actions } = (await batch(who, project, 'upload', [content])).json.objects[0]
  const sent = await follow(who, 'PUT', actions.upload, content)
  return sent.status
}

/** Performs an action of a batch response. */
export const follow = (
  who: Client,
  method: string,
  action: { href: string; header?: Record<string, string> },
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  who.send(method, `/${new URL(action.href).pathname}`, {
    headers: { 'private-token': '', ...action.header, ...headers },
    ...(body !== undefined && { body }),
  })
