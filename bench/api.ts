import { rootToken } from './world.ts'

/** Calls the API as the administrator, for preparation that is not measured. Returns the JSON of a successful response. */
export async function callApi(port: number, method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v4${path}`, {
    method,
    headers: { 'private-token': rootToken, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
