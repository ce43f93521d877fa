import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, vi } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { ageExportRequests, ageExports, exportRequests } from '../../../../test/tables/portability.ts'
import { test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { download, entriesOf, exportOf, runExports } from '../testing.ts'
import { exportArchive, removeOldArchives } from './jobs.ts'

const missing = { status: 404, json: { message: '404 Not found or has expired' } }

async function stage(world: World) {
  const ann = await world.user()
  const project = await storedProject(world, { visibility: 'private', members: [[ann, 'maintainer']] })
  project.repository.commit({ a: 'a\n' })
  return { ann, project, at: `/projects/${project.id}/export` }
}

/** A receiver of uploads with the status that it answers. */
async function receiver(status: number, during: () => Promise<void> = async () => {}) {
  const received: { method: string; length: string | undefined; type: string | undefined; body: Buffer }[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    const { method, headers } = request
    received.push({
      method: method!,
      length: headers['content-length'],
      type: headers['content-type'],
      body: await buffer(request),
    })
    await during()
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/put?signature=secret`,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

describe('exports of projects', () => {
  test('D1-EXPORT-ACCEPTED D1-EXPORT-STATES D1-EXPORT-LINKS the status goes from none by started to finished', async ({
    world,
  }) => {
    const { ann, project, at } = await stage(world)
    const state = async () => (await ann.get(at)).json
    expect(await state()).toMatchObject({ id: project.id, export_status: 'none' })
    expect(await ann.get(`${at}/download`)).toMatchObject(missing)
    expect(await ann.post(at)).toMatchObject({ status: 202, json: { message: '202 Accepted' } })
    expect(await state()).toMatchObject({ export_status: 'started' })
    expect(await state()).not.toHaveProperty('_links')
    await runExports(world)
    expect(await state()).toMatchObject({
      path_with_namespace: project.full_path,
      export_status: 'finished',
      _links: {
        api_url: `${(await contextFor(world, null)).site.url}/api/v4${at}/download`,
        web_url: expect.stringContaining(`/${project.full_path}/download_export`),
      },
    })
    const mail = (await mailsTo(world, `${ann.username}@example.com`)).at(-1)
    expect(mail!.body).toContain('/export/download')
  })

  test('exports of two projects that are requested at once both finish', async ({ world }) => {
    const both = [await stage(world), await stage(world)]
    for (const { ann, at } of both) expect((await ann.post(at)).status).toBe(202)
    await runExports(world)
    for (const { ann, at } of both) expect((await ann.get(at)).json).toMatchObject({ export_status: 'finished' })
  })

  test('D1-EXPORT-DOWNLOAD the download is a tar.gz with the suffix _export in its name', async ({ world }) => {
    const { ann, project, at } = await stage(world)
    await ann.post(at)
    await runExports(world)
    const { headers, body } = await download(world, ann, `${at}/download`)
    expect(headers['content-type']).toBe('application/gzip')
    const name = /^attachment; filename="(\d{4}-\d\d-\d\d_\d\d-\d\d-\d{3}_(.*))_export\.tar\.gz"/
    const [, whole, path] = name.exec(String(headers['content-disposition']))!
    expect(path).toBe(project.full_path.replace('/', '_').slice(0, path!.length))
    expect(whole!.length).toBe(Math.min(51, 'YYYY-MM-DD_HH-MM-mmm_'.length + project.full_path.length))
    const entries = await entriesOf(body)
    expect(entries.get('VERSION')!.toString()).toBe('0.2.4\n')
    expect(entries.has('project.bundle')).toBe(true)
    expect(JSON.parse(entries.get('tree/project.json')!.toString())).toMatchObject({ visibility_level: 0 })
  })

  test('D1-EXPORT-DESCRIPTION the description of the call replaces that of the project in the archive only', async ({
    world,
  }) => {
    const { ann, project, at } = await stage(world)
    await world.root.put(`/projects/${project.id}`, { description: 'Of the project' })
    await ann.post(at, { description: 'Of the call' })
    await runExports(world)
    const { body } = await download(world, ann, `${at}/download`)
    const json = JSON.parse((await entriesOf(body)).get('tree/project.json')!.toString())
    expect(json.description).toBe('Of the call')
    expect((await ann.get(`/projects/${project.id}`)).json.description).toBe('Of the project')
  })

  test('a developer gets 403 from all three endpoints, a stranger 404', async ({ world }) => {
    const { project, at } = await stage(world)
    const dev = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: dev.id, access_level: 30 })
    const stranger = await world.user()
    for (const [who, status] of [
      [dev, 403],
      [stranger, 404],
    ] as const) {
      expect((await who.post(at)).status).toBe(status)
      expect((await who.get(at)).status).toBe(status)
      expect((await who.get(`${at}/download`)).status).toBe(status)
    }
  })

  test('all three endpoints answer 404 if exports are disabled', async ({ world }) => {
    const { ann, at } = await stage(world)
    await world.settings({ project_export_enabled: false })
    const gone = { status: 404, json: { message: '404 Not Found' } }
    expect(await ann.post(at)).toMatchObject(gone)
    expect(await ann.get(at)).toMatchObject(gone)
    expect(await ann.get(`${at}/download`)).toMatchObject(gone)
  })

  test('the archive of an administrator, with what only administrators may see, is for administrators', async ({
    world,
  }) => {
    const { ann, project, at } = await stage(world)
    const other = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: other.id, access_level: 40 })
    await world.root.put(`/projects/${project.id}/custom_attributes/secret`, { value: 'for administrators' })
    const secrets = (archive: ReadonlyMap<string, Buffer>) =>
      [...archive.values()].some((body) => /for administrators|@example/.test(body.toString()))
    expect(secrets(await entriesOf(await exportOf(world, project.id)))).toBe(true)
    expect((await ann.get(at)).json.export_status).toBe('none')
    expect(await ann.get(`${at}/download`)).toMatchObject(missing)
    const own = await exportOf(world, project.id, ann)
    expect(secrets(await entriesOf(own))).toBe(false)
    expect((await download(world, other, `${at}/download`)).body).toEqual(own)
    await exportOf(world, project.id)
    expect((await download(world, ann, `${at}/download`)).body).toEqual(own)
  })

  test('a second start within five minutes, and an eleventh download within ten, are refused with 429', async ({
    world,
  }) => {
    const { ann, at } = await stage(world)
    expect((await ann.post(at)).status).toBe(202)
    expect((await ann.post(at)).status).toBe(429)
    await runExports(world)
    for (let n = 0; n < 10; n++) expect((await ann.get(`${at}/download`)).status).toBe(200)
    expect((await ann.get(`${at}/download`)).status).toBe(429)
  })

  test('a finished archive ends after a day', async ({ world }) => {
    const { ann, project, at } = await stage(world)
    await ann.post(at)
    await runExports(world)
    await ageExports(world, project.id, '25 hours')
    await removeOldArchives.run({}, await contextFor(world, null))
    expect(await ann.get(at)).toMatchObject({ json: { export_status: 'none' } })
    expect(await ann.get(`${at}/download`)).toMatchObject(missing)
  })

  test('an export that no job has finished in a day ends, and its requester gets a mail', async ({ world }) => {
    const { ann, project, at } = await stage(world)
    await ann.post(at)
    await world.takeJobs('export_archive:%')
    const ctx = await contextFor(world, null)
    await removeOldArchives.run({}, ctx)
    expect((await ann.get(at)).json.export_status).toBe('started')
    await ageExportRequests(world, project.id, '25 hours')
    await removeOldArchives.run({}, ctx)
    expect((await ann.get(at)).json.export_status).toBe('none')
    expect((await mailsTo(world, `${ann.username}@example.com`)).at(-1)).toMatchObject({
      subject: expect.stringMatching(/Export of .* failed/),
      body: expect.stringContaining('24 hours'),
    })
  })

  test('who is no maintainer any more when the export runs gets no archive', async ({ world }) => {
    const { ann, project, at } = await stage(world)
    await ann.post(at)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 })
    await runExports(world)
    expect(await world.root.get(at)).toMatchObject({ json: { export_status: 'none' } })
    expect(await exportRequests(world, project.id)).toEqual([])
  })

  test('an archived project can be exported', async ({ world }) => {
    const { project } = await stage(world)
    await world.root.post(`/projects/${project.id}/archive`)
    const entries = await entriesOf(await exportOf(world, project.id))
    expect(JSON.parse(entries.get('tree/project.json')!.toString()).archived).toBe(true)
  })
})

describe('uploads of exports', () => {
  test.for([
    ['D1-EXPORT-UPLOAD-METHOD PUT by default', undefined, 'PUT'],
    ['D1-EXPORT-UPLOAD-BINARY POST', 'POST', 'POST'],
  ] as const)('%s: the archive is the body, and is not kept', async ([, http_method, method], { world }) => {
    const { ann, at } = await stage(world)
    await using to = await receiver(200)
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    expect((await ann.post(at, { upload: { url: to.url, ...(http_method && { http_method }) } })).status).toBe(202)
    await runExports(world)
    const [sent] = to.received
    expect(sent).toMatchObject({ method, length: String(sent!.body.length), type: undefined })
    expect((await entriesOf(sent!.body)).has('VERSION')).toBe(true)
    expect(await ann.get(at)).toMatchObject({ json: { export_status: 'none' } })
    const mail = (await mailsTo(world, `${ann.username}@example.com`)).at(-1)
    expect(mail!.body).toContain('was uploaded')
  })

  test('D1-EXPORT-AFTER-ACTION a failed upload leaves the archive for download and sends the reason', async ({
    world,
  }) => {
    const { ann, project, at } = await stage(world)
    const during: string[] = []
    await using to = await receiver(403, async () => void during.push((await ann.get(at)).json.export_status))
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await ann.post(at, { upload: { url: to.url } })
    await runExports(world)
    expect(await ann.get(at)).toMatchObject({ json: { export_status: 'finished' } })
    const mail = (await mailsTo(world, `${ann.username}@example.com`)).at(-1)
    expect(mail!.body).toContain('Error uploading the project. Code 403: Forbidden')
    expect(mail!.body).not.toContain('signature')
    expect(await exportRequests(world, project.id)).toEqual([])
    expect(during).toEqual(['after_export_action'])
  })

  test('an upload that was interrupted sends the archive of its own request, and another request keeps its archive', async ({
    world,
  }) => {
    const { ann, project, at } = await stage(world)
    const ben = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: ben.id, access_level: 40 })
    await using to = await receiver(200)
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await ann.post(at, { description: 'Of Ann', upload: { url: to.url } })
    const [interrupted] = await world.takeJobs('export_archive:%')
    const ctx = await contextFor(world, null)
    const ended = contextFor(world, null)
    vi.spyOn((await ended).secrets, 'open').mockImplementationOnce(() => {
      throw new Error('the process ends')
    })
    const run = exportArchive.run(interrupted!.payload, await ended)
    await expect(run).rejects.toThrow('the process ends')
    await ben.post(at, { description: 'Of Ben' })
    await runExports(world)

    await exportArchive.run(interrupted!.payload, ctx)
    const described = async (archive: Buffer) =>
      JSON.parse((await entriesOf(archive)).get('tree/project.json')!.toString()).description
    expect(await described(to.received[0]!.body)).toBe('Of Ann')
    expect(await described((await download(world, ben, `${at}/download`)).body)).toBe('Of Ben')
  })

  test.for([
    [{ url: 'ftp://example.com/x' }, { url: ['is blocked: Only allowed schemes are http, https'] }],
    [{ url: 'http://127.0.0.1/x' }, { url: ['is blocked: Requests to localhost are not allowed'] }],
    [
      { url: 'https://example.com', http_method: 'PATCH' },
      { http_method: ['invalid. Only PUT and POST methods allowed.'] },
    ],
  ] as const)('400 for the upload %j', async ([upload, message], { world }) => {
    const { ann, at } = await stage(world)
    const answer = await ann.post(at, { upload })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.json.message)).toEqual(Object.keys(message))
  })

  test('D1-EXPORT-UPLOAD-URL 400 for an upload without a URL', async ({ world }) => {
    const { ann, at } = await stage(world)
    expect(await ann.post(at, { upload: { http_method: 'PUT' } })).toMatchObject({
      status: 400,
      json: { error: 'upload[url] is missing' },
    })
  })
})
