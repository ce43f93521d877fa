import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { freshEnv, type Service, serve } from '../../../test/service.ts'
import { eventually } from '../../../test/waiting.ts'
import { unique } from '../../../test/world.ts'
import { administrator, download, entriesOf, upload } from './testing.ts'

const issues = 120
const epics = 60

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

/** The archive of a group, when the mails about its exports have come: groups have no state of exports, and downloads are limited. */
async function groupArchive({ root, origin, env }: Service, id: number, exports = 1): Promise<Buffer> {
  const folder = join(env.STITHY_DATA_DIR, 'mails')
  const at = `/groups/${id}/export/download`
  await eventually(async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.txt'))
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    expect(mails.filter((mail) => mail.includes(at))).toHaveLength(exports)
  }, 200)
  const answer = await request(`${origin}/api/v4${at}`, { headers: { 'private-token': root.token! } })
  expect(answer.statusCode).toBe(200)
  return Buffer.from(await answer.body.arrayBuffer())
}

/** The service stops if its jobs process ends six times in a row; one that has lived five seconds begins a new count. */
const begunAnew = () => new Promise((resolve) => setTimeout(resolve, 6_000))

/** Kills the jobs process several times, a little later each time; the service starts another one. */
async function killJobs({ launched }: Service, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await new Promise((resolve) => setTimeout(resolve, 40 * n))
    await launched.killNamed('stithy jobs')
  }
}

describe('kill -9 of the jobs process', () => {
  test('an export and an import that are killed again and again end with the same archive', async () => {
    const service = await serve(await freshEnv())
    const at = await stage(service)
    const one = await administrator(service)
    expect((await one.post(`${at}/export`)).status).toBe(202)
    await killJobs(service, 3)
    const first = await archiveOf(service, at)

    await begunAnew()
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

  test('an import of a group with epics that is killed again and again is complete, and has nothing twice', async () => {
    const service = await serve(await freshEnv())
    const { root } = service
    const { id: rootId } = (await root.post('/groups', { name: 'killed', path: 'killed' })).json
    const { id: belowId } = (await root.post('/groups', { name: 'below', path: 'below', parent_id: rootId })).json
    await root.post(`/groups/${rootId}/labels`, { name: 'bug', color: '#112233' })
    await root.post(`/groups/${rootId}/milestones`, { title: 'Next' })
    let parentId: number | undefined
    for (let n = 1; n <= epics; n++) {
      const at = `/groups/${n % 3 === 0 ? belowId : rootId}/epics`
      const { id, iid } = (await root.post(at, { title: `Epic ${n}`, description: 'x'.repeat(2000), labels: 'bug' }))
        .json
      if (n > 1) await root.put(`${at}/${iid}`, { parent_id: parentId })
      if (n % 3 === 1) parentId = n % 10 === 1 ? id : parentId
      await root.post(`${at}/${iid}/notes`, { body: `Note ${n}` })
    }
    const one = await administrator(service)
    expect((await one.post(`/groups/${rootId}/export`)).status).toBe(202)
    const first = await groupArchive(service, rootId)

    // Each import is killed a little later than the one before.
    for (const [attempt, delays] of [[0], [20, 60], [40, 10], [90, 30, 0], [150]].entries()) {
      const path = `again-${attempt}`
      await begunAnew()
      expect((await upload(root, first, { name: path, path }, '/groups/import')).status).toBe(202)
      const { id } = (await root.get(`/groups/${path}`)).json
      const seen = new Set<string>()
      const look = async () => {
        const [found, groups] = await Promise.all([
          root.get(`/groups/${id}/epics?per_page=1`),
          root.get(`/groups/${id}/subgroups`),
        ])
        seen.add(`${found.headers['x-total']} ${groups.json.length}`)
      }
      for (const ms of delays) {
        await new Promise((resolve) => setTimeout(resolve, ms))
        await look()
        await service.launched.killNamed('stithy jobs')
      }
      await eventually(async () => {
        await look()
        expect(seen).toContain(`${epics} 1`)
      })
      // Two reads may have the end of the import between them, and nothing else.
      for (const each of seen) expect(['0 0', '0 1', `${epics} 0`, `${epics} 1`]).toContain(each)
      const two = await administrator(service)
      expect((await two.post(`/groups/${id}/export`)).status).toBe(202)
      const [before, after] = [await entriesOf(first), await entriesOf(await groupArchive(service, id))]
      const named = (entries: ReadonlyMap<string, Buffer>) =>
        [...entries].map(([name, content]) => [name, content.toString().replaceAll(/"visibility":\d+/g, '')])
      expect(named(after)).toEqual(named(before))
      expect((await root.post(`/groups/${id}/epics`, { title: 'Next' })).status).toBe(201)
    }
    expect(await readdir(join(service.env.STITHY_DATA_DIR, 'tmp', 'archives')).catch(() => [])).toEqual([])
  })

  test('an export of a group that is killed again and again is made once, and the archive before it can be downloaded until then', async () => {
    const service = await serve(await freshEnv())
    const { root, origin } = service
    const { id } = (await root.post('/groups', { name: 'exported', path: 'exported' })).json
    const add = async (from: number, count: number) => {
      for (let n = from; n < from + count; n++)
        await root.post(`/groups/${id}/epics`, { title: `Epic ${n}`, description: 'x'.repeat(2000) })
    }
    await add(0, epics)
    const one = await administrator(service)
    expect((await one.post(`/groups/${id}/export`)).status).toBe(202)
    const before = await groupArchive(service, id)
    await add(epics, 1)
    const two = await administrator(service)
    const downloads: Buffer[] = []
    await begunAnew()
    expect((await two.post(`/groups/${id}/export`)).status).toBe(202)
    for (const ms of [0, 30, 10]) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      await service.launched.killNamed('stithy jobs')
      const { status, body } = await download({ origin }, two, `/groups/${id}/export/download`)
      expect(status).toBe(200)
      downloads.push(body)
    }
    const after = await groupArchive(service, id, 2)
    for (const each of downloads) expect(each.equals(before) || each.equals(after)).toBe(true)
    const titles = (await entriesOf(after))
      .get('tree/group/epics.ndjson')!
      .toString()
      .match(/"title":"Epic \d+"/g)!
    expect([titles.length, new Set(titles).size]).toEqual([epics + 1, epics + 1])
    expect(await readdir(join(service.env.STITHY_DATA_DIR, 'tmp', 'archives')).catch(() => [])).toEqual([])
  })
})
