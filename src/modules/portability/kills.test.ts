import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { freshEnv, type Service, serve } from '../../../test/service.ts'
import { eventually } from '../../../test/waiting.ts'
import { unique } from '../../../test/world.ts'
import { upload } from './testing.ts'

const issues = 120

/** A project with issues, notes and files. */
async function stage({ root }: Service): Promise<string> {
  const { json } = await root.post('/projects', { path: unique('killed'), initialize_with_readme: true })
  const at = `/projects/${json.id}`
  for (let n = 1; n <= issues; n++) {
    await root.post(`${at}/issues`, { title: `Issue ${n}`, description: 'x'.repeat(2000), labels: `label ${n % 7}` })
    await root.post(`${at}/issues/${n}/notes`, { body: `Note ${n}` })
  }
  return at
}

async function archiveOf({ root, origin }: Service, at: string): Promise<Buffer> {
  await eventually(async () => expect((await root.get(`${at}/export`)).json.export_status).toBe('finished'))
  const answer = await request(`${origin}/api/v4${at}/export/download`, { headers: { 'private-token': root.token! } })
  return Buffer.from(await answer.body.arrayBuffer())
}

/** Kills the jobs process several times, a little later each time; the service starts another one. */
async function killJobs({ launched }: Service, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await new Promise((resolve) => setTimeout(resolve, 40 * n))
    await launched.killNamed('stithy jobs')
  }
}

/** Exports and imports of an administrator each, because a user starts one export in five minutes. */
async function administrator({ root, origin }: Service) {
  const { Client } = await import('../../../test/world.ts')
  const username = unique('admin')
  const made = await root.post('/users', {
    username,
    name: username,
    email: `${username}@example.com`,
    password: 'correct horse battery',
    admin: true,
    skip_confirmation: true,
  })
  const token = await root.post(`/users/${made.json.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
  return new Client(origin, { id: made.json.id, username, token: token.json.token })
}

describe('kill -9 of the jobs process', () => {
  test('an export and an import that are killed again and again end with the same archive', async () => {
    const service = await serve(await freshEnv())
    const at = await stage(service)
    const one = await administrator(service)
    expect((await one.post(`${at}/export`)).status).toBe(202)
    await killJobs(service, 3)
    const first = await archiveOf(service, at)

    const made = await upload(service.root, first, { path: unique('again') })
    const imported = `/projects/${made.json.id}`
    const seen = new Set<number>()
    const watching = (async () => {
      for (let state = 'scheduled'; state !== 'finished' && state !== 'failed'; ) {
        const count = (await service.root.get(`${imported}/issues?per_page=1`)).headers['x-total']
        state = (await service.root.get(`${imported}/import`)).json.import_status
        seen.add(Number(count))
      }
    })()
    await killJobs(service, 3)
    await eventually(async () =>
      expect((await service.root.get(`${imported}/import`)).json).toMatchObject({ import_status: 'finished' }),
    )
    await watching
    // Nothing of an unfinished import was visible.
    for (const count of seen) expect([0, issues]).toContain(count)

    const two = await administrator(service)
    expect((await two.post(`${imported}/export`)).status).toBe(202)
    expect((await archiveOf(service, imported)).equals(first)).toBe(true)
    const left = await readdir(join(service.env.STITHY_DATA_DIR, 'tmp', 'archives')).catch(() => [])
    expect(left).toEqual([])
  })
})
