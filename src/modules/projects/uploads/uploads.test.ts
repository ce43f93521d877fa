import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { changeProject, misstateUpload, uploadsOf } from '../../../../test/tables/projects.ts'
import { type Answer, type Client, test, unique, type World } from '../../../../test/world.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { blobCheck } from '../../../blobs/check.ts'
import { collectBlobs } from '../../administration/blob-collection/service.ts'
import { oidOf } from '../../pushes/large-files/testing.ts'
import { removeProject } from '../projects/jobs.ts'
import { checkUploads } from './check.ts'
import { safeFilename } from './filename.ts'

const send = (who: Client, projectId: number, name: string, content: string | Buffer = 'content'): Promise<Answer> => {
  const body = new FormData()
  body.set('file', new Blob([content]), name)
  return who.send('POST', `/projects/${projectId}/uploads`, { body })
}

/** The path of an upload, for `Client.get`. */
const at = ({ json }: Answer): string => `/${encodeURI(json.full_path)}`

test('a file whose bytes have changed on disk is not served as complete', async ({ world }) => {
  const project = await world.project()
  for (const size of [10, 3_000_000]) {
    const content = unique('notes').padEnd(size, '.')
    const uploaded = await send(world.root, project.id, 'notes.txt', content)
    expect((await world.root.get(at(uploaded))).text).toBe(content)
    const digest = oidOf(content)
    const path = join(fileURLToPath(world.config.blobUrl), 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest)
    const file = await open(path, 'r+')
    await file.write('N', 0)
    await file.close()
    await expect(world.root.get(at(uploaded))).rejects.toThrow()
  }
})

describe('POST /projects/:id/uploads', () => {
  test('D2-UPLOAD-MULTIPART, D1-MULTIPART-FOR-FILES: stores the file and returns its link', async ({ world }) => {
    const project = await world.project()
    const picture = await send(world.root, project.id, 'dk (1).png')
    expect(picture.status).toBe(201)
    const [, secret] = /^\/uploads\/([0-9a-f]{32})\/dk__1_\.png$/.exec(picture.json.url)!
    expect(picture.json).toEqual({
      alt: 'dk__1_',
      url: `/uploads/${secret}/dk__1_.png`,
      full_path: `/${project.full_path}/uploads/${secret}/dk__1_.png`,
      markdown: `![dk__1_](/uploads/${secret}/dk__1_.png)`,
    })
    const { alt, url, markdown } = (await send(world.root, project.id, 'page.svg')).json
    expect({ alt, markdown }).toEqual({ alt: 'page.svg', markdown: `[page.svg](${url})` })
  })

  test('400 for an upload without a file', async ({ world }) => {
    const { id } = await world.project()
    expect(await world.root.post(`/projects/${id}/uploads`)).toMatchObject({
      status: 400,
      json: { error: 'file is missing' },
    })
    for (const json of [{ file: 'text' }, { file: { path: '/etc/passwd', filename: 'x', sizeBytes: 1 } }])
      expect(await world.root.send('POST', `/projects/${id}/uploads`, { json })).toMatchObject({
        status: 400,
        json: { error: 'file is invalid' },
      })
  })

  test('an upload above max_attachment_size returns {} and is not stored', async ({ world }) => {
    const { id } = await world.project()
    await world.settings({ max_attachment_size: 1 })
    const [fits, large] = [Buffer.alloc(1024 * 1024), Buffer.alloc(1024 * 1024 + 1)]
    expect((await send(world.root, id, 'fits', fits)).json.alt).toBe('fits')
    expect(await send(world.root, id, 'large', large)).toMatchObject({ status: 201, json: {} })
    await world.settings({ max_attachment_size: 10 })
    expect(await uploadsOf(world, id)).toEqual([{ filename: 'fits' }])
  })

  test('403 for an upload to an archived project', async ({ world }) => {
    const project = await world.project()
    await world.archive(project)
    expect((await send(world.root, project.id, 'a.txt')).status).toBe(403)
  })
})

test.for([
  ['a b\t"c".TXT', 'a_b__c_.TXT'],
  ['Übergröße-日本.pdf', 'Übergröße-日本.pdf'],
  ['e\u0301.png', 'é.png'],
  ['.htaccess', '_.htaccess'],
  ['...', '_...'],
  ['', 'unnamed'],
  ['\u202egnp.exe', '_gnp.exe'],
  ['a\0b\r\nc: d', 'a_b__c__d'],
  ['](javascript:x)<b>.png', '__javascript_x__b_.png'],
  ['..\\..\\x', '_.._.._x'],
  [`${'é'.repeat(200)}.jpeg`, `${'é'.repeat(125)}.jpeg`],
  [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
])('the file name %j becomes %j', ([given, safe]) => {
  expect(safeFilename(given!)).toBe(safe)
  expect(Buffer.byteLength(safe!)).toBeLessThanOrEqual(255)
})

describe('URLs of uploads', () => {
  test('an upload can be read by callers who can read the project, 404 for others', async ({ world }) => {
    const [guest, stranger] = [await world.user(), await world.user()]
    const external = await world.user({ external: true })
    const readers: Record<string, readonly Client[]> = {
      private: [guest, world.root],
      internal: [guest, world.root, stranger],
      public: [guest, world.root, stranger, external, world.anonymous],
    }
    for (const visibility of ['private', 'internal', 'public'] as const) {
      const project = await world.project({ visibility, members: [[guest, 'guest']] })
      const url = at(await send(world.root, project.id, 'a.txt', 'attached'))
      const missing = url.replace(/[0-9a-f]{32}/, '0'.repeat(32))
      for (const who of [guest, world.root, stranger, external, world.anonymous]) {
        const found = await who.get(url)
        if (readers[visibility]!.includes(who)) expect([found.status, found.text]).toEqual([200, 'attached'])
        else expect([found.status, found.text]).toEqual([404, (await who.get(missing)).text])
      }
    }
  })

  test('an upload by URL needs a token with read access to the API', async ({ world }) => {
    const project = await world.project()
    const url = at(await send(world.root, project.id, 'a.txt'))
    const status = async (...scopes: Parameters<World['as']>[1] & {}) =>
      (await (await world.as(world.root, scopes)).get(url)).status
    expect([await status('read_api'), await status('api')]).toEqual([200, 200])
    expect([await status('read_user'), await status('read_repository')]).toEqual([403, 403])
    expect((await world.anonymous.get(`${url}?private_token=unknown`)).status).toBe(401)
  })

  test('images are shown inline, other uploads are attachments with a safe content type', async ({ world }) => {
    const project = await world.project()
    for (const [name, type, kind] of [
      ['a.png', 'image/png', 'inline'],
      ['a.WEBP', 'image/webp', 'inline'],
      ['a.svg', 'application/octet-stream', 'attachment'],
      ['a.html', 'application/octet-stream', 'attachment'],
      ['a.pdf', 'application/octet-stream', 'attachment'],
      ['png', 'application/octet-stream', 'attachment'],
    ]) {
      const { headers } = await world.root.head(at(await send(world.root, project.id, name!, '<script>1</script>')))
      expect(headers).toMatchObject({
        'content-type': type,
        'content-disposition': `${kind}; filename="${name}"; filename*=UTF-8''${name}`,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'content-length': '18',
      })
    }
  })

  test('uploads support ranges and conditional requests', async ({ world }) => {
    const project = await world.project()
    const url = at(await send(world.root, project.id, 'ü.txt', '0123456789'))
    const { headers } = await world.root.get(url)
    const get = (more: Record<string, string>) => world.root.get(url, { headers: more })
    expect(await get({ 'if-none-match': headers['etag']! })).toMatchObject({ status: 304, text: '' })
    expect(await get({ range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      text: '234',
      headers: { 'content-range': 'bytes 2-4/10', etag: headers['etag'] },
    })
    expect(await get({ range: 'bytes=2-4', 'if-range': '"other"' })).toMatchObject({ status: 200, text: '0123456789' })
    expect(await get({ range: 'bytes=10-' })).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */10' },
    })
  })

  test('404 for uploads at other URLs, and for writes', async ({ world }) => {
    const [project, other] = [await world.project(), await world.project()]
    const url = at(await send(world.root, project.id, 'a.txt'))
    const secret = /[0-9a-f]{32}/.exec(url)![0]
    for (const path of [
      `//${other.full_path}/uploads/${secret}/a.txt`,
      `//${project.full_path}/uploads/${secret}/b.txt`,
      `//${project.full_path}/uploads/${secret}/..%2F..%2Fa.txt`,
      `//${project.full_path}/uploads/${secret}/%2e%2e/a.txt`,
      `//${project.full_path}/uploads/${secret}/a.txt%00`,
      `//${project.full_path}/uploads/${secret}/`,
      `//${project.full_path}/uploads/..%2f..%2f..%2fetc/passwd`,
    ])
      expect((await world.root.get(path)).status, path).toBe(404)
    expect((await world.root.get(`//${project.full_path}/uploads/${secret}/%ff`)).status).toBe(400)
    expect((await world.root.send('PUT', url)).status).toBe(404)
  })

  test('the URL of an upload works under the new and the old path of a project', async ({ world }) => {
    const project = await world.project()
    const url = at(await send(world.root, project.id, 'a.txt', 'moved'))
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-2` })
    for (const path of [url, url.replace(project.path, `${project.path}-2`)])
      expect(await world.root.get(path)).toMatchObject({ status: 200, text: 'moved' })
  })
})

test('blobs of uploads exist as long as a project references them', async ({ world }) => {
  const ctx = await world.app.open(null)
  const project = await world.project()
  const content = `kept by ${project.full_path}`
  await send(world.root, project.id, 'a.txt', content)
  const later = () => new Date(Date.now() + 60_000)
  const there = () => ctx.blobs.has(oidOf(content) as Digest)
  await collectBlobs(ctx, later())
  expect(await there()).toBe(true)
  await world.root.delete(`/projects/${project.id}`)
  await changeProject(world, project.id, { deleting: true })
  await removeProject.run({ projectId: project.id }, ctx)
  await collectBlobs(ctx, later())
  expect(await there()).toBe(false)
})

test('checkUploads reports uploads whose bytes are missing or truncated', async ({ world }) => {
  const ctx = await world.app.open(null)
  const project = await world.project()
  for (const name of ['gone', 'cut']) await send(world.root, project.id, name, `${name} ${project.id}`)
  await ctx.blobs.delete(oidOf(`gone ${project.id}`) as Digest)
  await misstateUpload(world, project.id, 'cut')
  const found = (await checkUploads(ctx.db, blobCheck(ctx.blobs))).filter((line) =>
    line.startsWith(`project ${project.id}:`),
  )
  expect(found).toEqual([
    expect.stringMatching(/its upload \d+ is missing$/),
    expect.stringMatching(/its upload \d+ has \d+ bytes instead of \d+$/),
  ])
})
