import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { hostilePaths, hostileRefs, openAndClosed, storedProject } from '../commits/testing.ts'

const enc = encodeURIComponent
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const tails = [
  'blob-id',
  'commit-id',
  'content-sha256',
  'encoding',
  'file-name',
  'file-path',
  'last-commit-id',
  'ref',
  'size',
]
const binary = Buffer.from([0, 1, 2, 0xff, 0xfe, 0x0a, 0x80, 0x0d])
const submodule = 'c'.repeat(40) as Oid

const names = [
  'a b.txt',
  'quote".txt',
  "it's (1)*!.txt",
  'ünï/çødé.txt',
  '100%.txt',
  '%2F.txt',
  'a+b&c=d;e#f?.txt',
  'data.json',
  'x.tar.gz',
  '.dot',
  'semi;colon',
  'tab\there',
  'back\\slash',
  'control\u0001',
]

describe('GET /projects/:id/repository/files/:file_path', () => {
  test('D1-FILE-BASE64 D1-FILE-PATH-ENCODED: the record of a file, by id and by full path', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ 'dir/a.txt': 'one\n', 'other.txt': 'x' })
    const second = project.repository.commit({ 'other.txt': 'y' })
    const expected = {
      file_name: 'a.txt',
      file_path: 'dir/a.txt',
      size: 4,
      encoding: 'base64',
      content: 'b25lCg==',
      content_sha256: sha256('one\n'),
      ref: 'main',
      blob_id: project.repository.git('rev-parse', 'main:dir/a.txt'),
      commit_id: second,
      last_commit_id: first,
      execute_filemode: false,
    }
    for (const id of [project.id, enc(project.full_path)]) {
      const answer = await world.root.get(`/projects/${id}/repository/files/dir%2Fa%2Etxt?ref=main`)
      expect(answer).toMatchObject({ status: 200, json: expected })
      expect(Object.keys(answer.json).sort()).toEqual(Object.keys(expected).sort())
    }
    const byCommit = await world.root.get(`/projects/${project.id}/repository/files/dir%2Fa.txt?ref=${first}`)
    expect(byCommit).toMatchObject({ json: { ref: first, commit_id: first } })
    expect(byCommit.headers['cache-control']).toContain('immutable')
    expect(
      await world.root.get(`/projects/${project.id}/repository/files/dir%2Fa.txt?ref=${first.slice(0, 8)}`),
    ).toMatchObject({ json: { ref: first.slice(0, 8), commit_id: first } })
  })

  test('what clients of several users may keep of a commit without asking again is for the same credentials only', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const commit = project.repository.commit({ 'a.txt': 'one\n' })
    const blob = project.repository.git('rev-parse', `${commit}:a.txt`)
    for (const path of [
      `files/a.txt?ref=${commit}`,
      `files/a.txt/raw?ref=${commit}`,
      `files/a.txt/blame?ref=${commit}`,
      `tree?ref=${commit}`,
      `blobs/${blob}`,
      `blobs/${blob}/raw`,
      `archive?sha=${commit}`,
    ]) {
      const { status, headers } = await world.root.get(`/projects/${project.id}/repository/${path}`)
      expect([path, status, headers['cache-control']]).toEqual([path, 200, 'max-age=3600, private, immutable'])
      expect(headers['vary'], path).toContain('Authorization, Private-Token, Sudo')
    }
    const asked = await world.root.get(`/projects/${project.id}/repository/files/a.txt?ref=main`)
    expect(asked.headers['vary']).not.toContain('Private-Token')
  })

  test('D1-FILE-PUBLIC: anonymous read of public files, 404 for strangers, 403 for guests', async ({ world }) => {
    const { open, closed, stranger, guest, reporter } = await openAndClosed(world)
    for (const form of [
      'files/a?ref=main',
      'files/a/raw?ref=main',
      'tree',
      `blobs/${closed.repository.git('rev-parse', 'main:a')}`,
      'commits',
      'commits/main',
    ]) {
      expect(await world.anonymous.get(`/projects/${open.id}/repository/${form}`), form).toMatchObject({ status: 200 })
      expect(await world.anonymous.get(`/projects/${closed.id}/repository/${form}`), form).toMatchObject({
        status: 404,
        json: { message: '404 Project Not Found' },
      })
      expect(await stranger.get(`/projects/${closed.id}/repository/${form}`), form).toMatchObject({ status: 404 })
      expect(await guest.get(`/projects/${closed.id}/repository/${form}`), form).toMatchObject({ status: 403 })
      expect(await reporter.get(`/projects/${closed.id}/repository/${form}`), form).toMatchObject({ status: 200 })
    }
  })

  test('D1-FILES-SCOPES: read_repository reads files and nothing else', async ({ world }) => {
    const project = await storedProject(world, { visibility: 'private' })
    project.repository.commit({ 'a.txt': 'a' })
    const reader = await world.as(world.root, ['read_repository'])
    for (const form of ['files/a.txt', 'files/a.txt/raw'])
      for (const verb of ['GET', 'HEAD'])
        expect(await reader.send(verb, `/projects/${project.id}/repository/${form}?ref=main`)).toMatchObject({
          status: 200,
        })
    for (const form of [
      '/repository/tree',
      '/repository/commits',
      '/repository/commits/main',
      `/repository/blobs/${project.repository.git('rev-parse', 'main:a.txt')}`,
      '',
    ])
      expect(await reader.get(`/projects/${project.id}${form}`)).toMatchObject({
        status: 403,
        json: { error: 'insufficient_scope' },
      })
  })

  test('400 for a file without a ref, 404 with a missing ref', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a' })
    for (const form of ['a.txt', 'a.txt/raw']) {
      expect(await world.root.get(`/projects/${project.id}/repository/files/${form}`)).toMatchObject({
        status: 400,
        json: { error: 'ref is missing' },
      })
      expect(await world.root.get(`/projects/${project.id}/repository/files/${form}?ref=`)).toMatchObject({
        status: 400,
        json: { error: 'ref is empty' },
      })
      expect(await world.root.get(`/projects/${project.id}/repository/files/${form}?ref=nope`)).toMatchObject({
        status: 404,
        json: { message: '404 Commit Not Found' },
      })
    }
  })

  test('404 for directories, submodules and missing paths; a link is its target', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({
      'dir/a.txt': 'a',
      link: { mode: '120000', content: '/etc/passwd' },
      sub: { mode: '160000', oid: submodule },
      run: { mode: '100755', content: '#!' },
    })
    const at = (path: string) => world.root.get(`/projects/${project.id}/repository/files/${enc(path)}?ref=main`)
    for (const path of ['dir', 'sub', 'nope', 'dir/nope', 'dir/a.txt/x'])
      expect(await at(path), path).toMatchObject({ status: 404, json: { message: '404 File Not Found' } })
    expect(await at('link')).toMatchObject({
      status: 200,
      json: { content: Buffer.from('/etc/passwd').toString('base64') },
    })
    expect(await at('run')).toMatchObject({ status: 200, json: { execute_filemode: true } })
    for (const path of ['../x', 'dir/../dir/a.txt'])
      expect(await at(path), path).toMatchObject({
        status: 400,
        json: { error: 'file_path should be a valid file path' },
      })
  })

  test('404 for files of an empty or missing repository', async ({ world }) => {
    const project = await storedProject(world)
    const at = `/projects/${project.id}/repository`
    const never = await world.root.post('/projects', { path: `never-${project.id}` })
    for (const place of [at, `/projects/${never.json.id}/repository`]) {
      expect(await world.root.get(`${place}/files/a.txt?ref=main`)).toMatchObject({
        status: 404,
        json: { message: '404 Commit Not Found' },
      })
      expect(await world.root.get(`${place}/tree`)).toMatchObject({
        status: 404,
        json: { message: '404 Tree Not Found' },
      })
      expect(await world.root.get(`${place}/commits`)).toMatchObject({
        status: 200,
        json: [],
        headers: { 'x-total': '0' },
      })
      expect(await world.root.get(`${place}/commits/main`)).toMatchObject({
        status: 404,
        json: { message: '404 Commit Not Found' },
      })
      expect(await world.root.get(`${place}/blobs/${submodule}`)).toMatchObject({
        status: 404,
        json: { message: '404 Blob Not Found' },
      })
    }
  })

  test('D1-FILE-HEAD D1-FILE-RAW: files of every name and content, in four forms', async ({ world }) => {
    const project = await storedProject(world)
    const files = Object.fromEntries(names.map((name, at) => [name, `content ${at}`]))
    const contents: Record<string, string | Buffer> = {
      ...files,
      binary,
      empty: '',
      latin: Buffer.from('Gr\xfc\xdfe', 'latin1'),
      big: Buffer.alloc(3 * 1024 * 1024 + 1, 'abc'),
    }
    const commit = project.repository.commit(contents)
    for (const [name, content] of Object.entries(contents)) {
      const bytes = Buffer.from(content)
      const at = `/projects/${project.id}/repository/files/${enc(name)}`
      const json = await world.root.get(`${at}?ref=main`)
      expect(json, name).toMatchObject({
        status: 200,
        json: { file_path: name, size: bytes.length, content_sha256: sha256(bytes) },
      })
      expect(Buffer.from(json.json.content, 'base64').equals(bytes)).toBe(true)
      const raw = await fetch(`${world.origin}/api/v4${at}/raw?ref=main`)
      expect(Buffer.from(await raw.arrayBuffer()).equals(bytes), name).toBe(true)
      expect(Object.fromEntries(raw.headers)).toMatchObject({
        'content-type': 'text/plain',
        'content-length': String(bytes.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      expect(raw.headers.get('content-disposition')).toMatch(/^inline; filename="[^"]*"; filename\*=UTF-8''[^ "]+$/)
      for (const answer of [
        json,
        await world.root.head(`${at}?ref=main`),
        await world.root.head(`${at}/raw?ref=main`),
      ]) {
        expect(answer.status).toBe(200)
        for (const family of ['x-service', 'x-gitlab']) {
          const values = Object.fromEntries(tails.map((tail) => [tail, answer.headers[`${family}-${tail}`]]))
          const shown = (text: string) =>
            Buffer.from(text.replace('\u0001', '%01').replace('\t', '%09'), 'utf8').toString('latin1')
          expect(values).toEqual({
            'blob-id': json.json.blob_id,
            'commit-id': commit,
            'content-sha256': sha256(bytes),
            encoding: 'base64',
            'file-name': shown(name.split('/').at(-1)!),
            'file-path': shown(name),
            'last-commit-id': commit,
            ref: 'main',
            size: String(bytes.length),
          })
        }
      }
      expect((await world.root.head(`${at}?ref=main`)).text).toBe('')
      expect((await world.root.head(`${at}/raw?ref=main`)).headers['content-length']).toBe(String(bytes.length))
    }
  })

  test('the file name in Content-Disposition is given in ASCII and in full', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'popen.rb': '', 'ü "q".txt': '' })
    const of = async (path: string) =>
      (await world.root.get(`/projects/${project.id}/repository/files/${enc(path)}/raw?ref=main`)).headers[
        'content-disposition'
      ]
    expect(await of('popen.rb')).toBe(`inline; filename="popen.rb"; filename*=UTF-8''popen.rb`)
    expect(await of('ü "q".txt')).toBe(`inline; filename="_ _q_.txt"; filename*=UTF-8''%C3%BC%20%22q%22.txt`)
  })

  test('what is sent as it is, such as raw files and archives of branches, stays out of shared caches', async ({
    world,
  }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a' })
    const sent = { title: 'a', file_name: 'a', content: 'a', visibility: 'private' }
    const { id } = (await world.root.post(`/projects/${project.id}/snippets`, sent)).json
    for (const at of ['repository/files/a.txt/raw?ref=main', 'repository/archive', `snippets/${id}/raw`])
      for (const got of [
        await world.root.get(`/projects/${project.id}/${at}`),
        await world.root.head(`/projects/${project.id}/${at}`),
      ])
        expect([at, got.status, got.headers['cache-control']]).toEqual([at, 200, 'max-age=0, private, must-revalidate'])
  })

  test('304 for a file with its ETag until the branch moves', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ 'a.txt': 'a' })
    const at = `/projects/${project.id}/repository/files/a.txt?ref=main`
    const etag = (await world.root.get(at)).headers['etag']!
    expect((await world.root.head(at)).headers['etag']).toBe(etag)
    expect(await world.root.get(at, { headers: { 'if-none-match': etag } })).toMatchObject({ status: 304, text: '' })
    project.repository.commit({ 'a.txt': 'b' })
    expect(await world.root.get(at, { headers: { 'if-none-match': etag } })).toMatchObject({
      status: 200,
      json: { content: 'Yg==' },
    })
  })

  test('413 for a file too large for JSON, but not for HEAD and raw', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ big: Buffer.alloc(32 * 1024 * 1024 + 1) })
    const at = `/projects/${project.id}/repository/files/big`
    expect(await world.root.get(`${at}?ref=main`)).toMatchObject({ status: 413 })
    expect(await world.root.head(`${at}?ref=main`)).toMatchObject({
      status: 200,
      headers: { 'x-gitlab-size': String(32 * 1024 * 1024 + 1) },
    })
    const raw = await world.root.get(`${at}/raw?ref=main`)
    expect(raw.text.length).toBe(32 * 1024 * 1024 + 1)
  })

  test('hostile paths and refs are refused or not found by every endpoint', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({
      'a.txt': 'a',
      'dir/b.txt': 'b',
      link: { mode: '120000', content: '/etc' },
      sub: { mode: '160000', oid: submodule },
    })
    const at = `/projects/${project.id}/repository`
    for (const path of hostilePaths) {
      for (const verb of ['GET', 'HEAD'])
        for (const form of [`${at}/files/${enc(path)}?ref=main`, `${at}/files/${enc(path)}/raw?ref=main`]) {
          const { status } = await world.root.send(verb, form)
          expect([400, 404], `${verb} ${JSON.stringify(path)}`).toContain(status)
        }
      for (const form of ['tree?path=', 'tree?recursive=true&path=', 'commits?path=']) {
        const answer = await world.root.get(`${at}/${form}${enc(path)}`)
        expect([200, 400], `${form}${JSON.stringify(path)}`).toContain(answer.status)
        if (answer.status === 200 && !/^dir\/*$/.test(path) && form !== 'commits?path=')
          expect(answer.json, JSON.stringify(path)).toEqual([])
      }
    }
    for (const broken of ['%', '%E0%A4%A', '%zz', '%ff'])
      for (const form of [
        `files/${broken}?ref=main`,
        `files/a.txt?ref=${broken}`,
        `commits/${broken}`,
        `tree?path=${broken}`,
      ])
        expect([200, 400, 404], form).toContain((await world.root.get(`${at}/${form}`)).status)
    for (const ref of hostileRefs) {
      for (const form of [
        `files/a.txt?ref=${enc(ref)}`,
        `files/a.txt/raw?ref=${enc(ref)}`,
        `tree?ref=${enc(ref)}`,
        `blobs/${enc(ref)}`,
        `blobs/${enc(ref)}/raw`,
        `commits/${enc(ref)}`,
        `commits/${enc(ref)}/refs`,
        `commits/${enc(ref)}/diff`,
        `merge_base?refs[]=main&refs[]=${enc(ref)}`,
      ]) {
        const { status } = await world.root.get(`${at}/${form}`)
        expect([400, 404], form).toContain(status)
      }
      const { status, json } = await world.root.get(`${at}/commits?ref_name=${enc(ref)}`)
      expect([200, 400], ref).toContain(status)
      if (status === 200) expect(json, ref).toEqual([])
    }
  })
})
