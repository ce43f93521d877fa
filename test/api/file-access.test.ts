import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../world.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const form = (field: string) => {
  const body = new FormData()
  body.set(field, new Blob([png]), 'me.png')
  return body
}

/** URLs of files outside the API: an upload, the project's avatar and the user's avatar. */
async function filesOf(world: World, ann: Client): Promise<Record<'upload' | 'project' | 'user', string>> {
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const upload = await ann.send('POST', `/projects/${project.id}/uploads`, { body: form('file') })
  const pictured = await ann.send('PUT', `/projects/${project.id}`, { body: form('avatar') })
  const person = await world.root.send('PUT', `/users/${ann.id}`, { body: form('avatar') })
  const at = (url: string) => `/${new URL(url).pathname}`
  return {
    upload: `/${upload.json.full_path}`,
    project: at(pictured.json.avatar_url),
    user: at(person.json.avatar_url),
  }
}

/** The status of each URL for this client. */
const statuses = async (who: Client, files: Record<string, string>) =>
  Object.fromEntries(
    await Promise.all(Object.entries(files).map(async ([name, url]) => [name, (await who.get(url)).status] as const)),
  )

describe('files outside the API', () => {
  test('token scopes that cannot read the API get 403 for uploads and avatars', async ({ world }) => {
    const ann = await world.user()
    const files = await filesOf(world, ann)
    const all = (status: number) => ({ upload: status, project: status, user: status })
    for (const scope of ['api', 'read_api'] as const)
      expect(await statuses(await world.as(ann, [scope]), files), scope).toEqual(all(200))
    for (const scope of ['read_repository', 'write_repository', 'read_registry', 'sudo'] as const)
      expect(await statuses(await world.as(world.root, [scope]), files), scope).toEqual(all(403))
    expect(await statuses(await world.as(ann, ['read_user']), files)).toEqual({ ...all(403), user: 200 })
  })

  test('uploads and avatars count against the web rate limits, not those of the API', async ({ world }) => {
    const ann = await world.user()
    const files = await filesOf(world, ann)
    await world.settings({
      throttle_authenticated_web_enabled: true,
      throttle_authenticated_web_requests_per_period: 1,
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 1,
    })
    for (const [who, first] of [
      [ann, 200],
      [world.anonymous, 404],
    ] as const) {
      expect((await who.get(files.upload)).status).toBe(first)
      for (const url of Object.values(files))
        expect(await who.get(url)).toMatchObject({ status: 429, text: 'Retry later\n' })
    }
  })

  test('403 for uploads and avatars until the user accepts the terms', async ({ world }) => {
    const ann = await world.user()
    const files = await filesOf(world, ann)
    await world.settings({})
    await world.root.put('/application/settings', { enforce_terms: true, terms: 'Be kind.' })
    await expect.poll(async () => (await world.app.open(null)).settings.enforce_terms).toBe(true)
    expect(await statuses(ann, files)).toEqual({ upload: 403, project: 403, user: 403 })
    const { id } = (await ann.get('/user/terms')).json
    expect((await ann.post('/user/terms/accept', { id })).status).toBe(201)
    expect(await statuses(ann, files)).toEqual({ upload: 200, project: 200, user: 200 })
  })
})
