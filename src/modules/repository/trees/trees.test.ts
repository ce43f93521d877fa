import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { pathFromBytes } from '../../../git/format/path-bytes.ts'
import { gitIn, type TestFile, type TestRepository } from '../../../git/testing.ts'
import { storedProject } from '../commits/testing.ts'

const enc = encodeURIComponent
const submodule = 'c'.repeat(40) as Oid

/** The tree as git lists it, in the order of the API. */
function listed(repository: TestRepository, treeish: string, recursive: boolean) {
  const kinds = { tree: 0, blob: 1, commit: 2 }
  return repository
    .git('ls-tree', '-z', ...(recursive ? ['-r', '-t'] : []), treeish)
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [, mode, type, id, path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line)!
      return { id, name: path!.split('/').at(-1), type: type as keyof typeof kinds, path, mode }
    })
    .sort((a, b) => kinds[a.type] - kinds[b.type])
}

/** A number derived from the words. */
const pick = (words: string, below: number) => createHash('sha256').update(words).digest().readUInt32BE() % below

describe('GET /projects/:id/repository/tree', () => {
  test('D1-TREE-DEFAULTS D1-TREE-PUBLIC: anonymous callers read the root of the default branch', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit({
      'b.txt': 'b',
      'a/x': 'x',
      link: { mode: '120000', content: 'b.txt' },
      'z.sh': { mode: '100755', content: '' },
      sub: { mode: '160000', oid: submodule },
    })
    repository.commit({ 'only-here': '' }, { branch: 'other' })
    const at = `/projects/${project.id}/repository/tree`
    const answer = await world.anonymous.get(at)
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'x-total': '5',
        'x-total-pages': '1',
        'x-page': '1',
        'x-per-page': '20',
        'x-next-page': '',
        'x-prev-page': '',
      },
    })
    expect(answer.json.map((entry: any) => [entry.name, entry.type, entry.mode])).toEqual([
      ['a', 'tree', '040000'],
      ['b.txt', 'blob', '100644'],
      ['link', 'blob', '120000'],
      ['z.sh', 'blob', '100755'],
      ['sub', 'commit', '160000'],
    ])
    expect(answer.json[4].id).toBe(submodule)
    expect((await world.root.get(`${at}?path=a/`)).json).toEqual(
      listed(repository, 'main:a', false).map((entry) => ({ ...entry, path: `a/${entry.path}` })),
    )
    expect((await world.root.get(`${at}?ref=other`)).json).toMatchObject([{ name: 'only-here' }])
    for (const path of ['nope', 'b.txt', 'sub', 'a/nope']) {
      expect(await world.root.get(`${at}?path=${path}`)).toMatchObject({ status: 200, json: [] })
      expect(await world.root.get(`${at}?recursive=true&path=${path}`)).toMatchObject({ status: 200, json: [] })
    }
    expect(await world.root.get(`${at}?ref=nope`)).toMatchObject({
      status: 404,
      json: { message: '404 Tree Not Found' },
    })
    expect(await world.root.get(`${at}?path=../x`)).toMatchObject({
      status: 400,
      json: { error: 'path should be a valid file path' },
    })
  })

  test('a tag of the same name does not replace the default branch of a tree', async ({ world }) => {
    const project = await storedProject(world)
    const old = project.repository.commit({ old: '' })
    project.repository.commit({ new: '' })
    project.repository.git('tag', 'main', old)
    expect((await world.root.get(`/projects/${project.id}/repository/tree`)).json).toHaveLength(2)
  })

  test('trees are those of git', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const parts = ['a', 'b', 'a.txt', 'B', 'a b', 'ü', '"q"', '%41', "it's", 'z-', 'a-b', 'a0', '日本']
    for (let run = 0; run < 12; run++) {
      const files: Record<string, TestFile> = {}
      for (let file = 0; file < 25; file++) {
        const depth = pick(`depth ${run} ${file}`, 3)
        // Directories end differently from files, so that no path is both.
        const path = [...Array(depth).keys()].map((level) => `${parts[pick(`${run} ${file} ${level}`, parts.length)]}d`)
        path.push(`${parts[pick(`${run} ${file}`, parts.length)]}f${pick(`n ${run} ${file}`, 4)}`)
        files[path.join('/')] =
          file % 7 === 0
            ? { mode: '160000', oid: submodule }
            : file % 5 === 0
              ? { mode: '100755', content: '' }
              : String(file)
      }
      const branch = `run-${run}`
      repository.commit(files, { branch })
      for (const recursive of [false, true]) {
        const answer = await world.root.get(
          `/projects/${project.id}/repository/tree?ref=${branch}&recursive=${recursive}&per_page=100`,
        )
        expect(answer.json).toEqual(listed(repository, branch, recursive))
      }
      const directory = listed(repository, branch, false).find((entry) => entry.type === 'tree')!
      const answer = await world.root.get(
        `/projects/${project.id}/repository/tree?ref=${branch}&recursive=true&per_page=100&path=${enc(directory.path!)}`,
      )
      expect(answer.json).toEqual(
        listed(repository, directory.id!, true).map((entry) => ({ ...entry, path: `${directory.path}/${entry.path}` })),
      )
    }
  })

  test('offset and keyset pages of 5,000 tree entries are complete', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit(
      Object.fromEntries(
        Array.from({ length: 5000 }, (_, at) => [`file ${String(at).padStart(4, '0')}`, String(at % 10)]),
      ),
    )
    const at = `/projects/${project.id}/repository/tree`
    const all = listed(repository, 'main', false)
    const fifty = await world.root.get(`${at}?per_page=100&page=50`)
    expect(fifty.headers).toMatchObject({
      'x-total': '5000',
      'x-total-pages': '50',
      'x-next-page': '',
      'x-prev-page': '49',
    })
    expect(fifty.json).toEqual(all.slice(4900))
    expect(await world.root.get(`${at}?per_page=100&page=51`)).toMatchObject({ status: 200, json: [] })
    const seen: any[] = []
    let next: string | undefined = `${at}?pagination=keyset&per_page=100`
    for (let pages = 0; next !== undefined && pages < 60; pages++) {
      const answer = await world.root.get(next)
      expect(answer.headers['x-total']).toBeUndefined()
      seen.push(...answer.json)
      next = /<([^>]+)>; rel="next"/.exec(answer.headers['link'] ?? '')?.[1]?.replace(/^.*\/api\/v4/, '')
    }
    expect(seen).toEqual(all)
    expect(await world.root.get(`${at}?pagination=keyset&page_token=nope`)).toMatchObject({ status: 400 })
  })

  test('the link to the next keyset page keeps directory, ref and depth', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ 'a b/ü/1': 'x', 'a b/ü/2': 'x', 'a b/3': 'x', other: 'x' }, { branch: 'new/one' })
    const seen: string[] = []
    let next: string | undefined =
      `/projects/${id}/repository/tree?pagination=keyset&per_page=1&path=a%20b&ref=new/one&recursive=true`
    while (next !== undefined && seen.length < 9) {
      const { json, headers } = await world.root.get(next)
      seen.push(...json.map(({ path }: { path: string }) => path))
      next = /<([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1]?.replace(/^.*\/api\/v4/, '')
    }
    expect(seen.toSorted()).toEqual(['a b/3', 'a b/ü', 'a b/ü/1', 'a b/ü/2'])
  })

  test('a tree entry whose name is not UTF-8 is shown as text', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ [pathFromBytes(Buffer.from('gr\xfc\xdfe.txt', 'latin1'))]: 'x' })
    expect(await world.root.get(`/projects/${project.id}/repository/tree`)).toMatchObject({
      json: [{ name: 'grüße.txt', path: 'grüße.txt' }],
    })
  })

  test('the tree of an empty root is an empty list', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    repository.commit({ a: 'a' })
    repository.commit({ a: null })
    expect(await world.root.get(`/projects/${project.id}/repository/tree`)).toMatchObject({ status: 200, json: [] })
    expect(await world.root.get(`/projects/${project.id}/repository/tree?recursive=true`)).toMatchObject({
      status: 200,
      json: [],
    })
  })
})

describe('GET /projects/:id/repository/blobs/:sha', () => {
  test('D1-BLOB D1-BLOB-RAW: a blob by id, 404 for other objects', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const bytes = Buffer.from([0, 255, 10, 13, 128])
    const commit = repository.commit({ 'dir/a.bin': bytes })
    const sha = repository.git('rev-parse', 'main:dir/a.bin')
    const at = `/projects/${project.id}/repository/blobs`
    expect(await world.anonymous.get(`${at}/${sha}`)).toMatchObject({
      status: 200,
      json: { size: 5, encoding: 'base64', content: bytes.toString('base64'), sha },
    })
    const raw = await fetch(`${world.origin}/api/v4${at}/${sha}/raw`)
    expect(Buffer.from(await raw.arrayBuffer()).equals(bytes)).toBe(true)
    expect(raw.headers.get('content-type')).toBe('text/plain')
    expect(await world.root.head(`${at}/${sha}/raw`)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '5' },
    })
    expect(await world.root.head(`${at}/${sha}`)).toMatchObject({ status: 200, text: '' })
    for (const other of [
      commit,
      repository.git('rev-parse', 'main:dir'),
      submodule,
      'main',
      sha.slice(0, 8),
      '0'.repeat(40),
    ])
      for (const form of [other, `${other}/raw`])
        expect(await world.root.get(`${at}/${form}`), form).toMatchObject({
          status: 404,
          json: { message: '404 Blob Not Found' },
        })
  })

  test('an unreferenced blob is readable, one of another repository is not', async ({ world }) => {
    const [one, two] = [await storedProject(world), await storedProject(world)]
    const sha = gitIn(one.repository.gitDir, ['hash-object', '-w', '--stdin'], 'loose')
    expect(await world.root.get(`/projects/${one.id}/repository/blobs/${sha}`)).toMatchObject({ status: 200 })
    expect(await world.root.get(`/projects/${two.id}/repository/blobs/${sha}`)).toMatchObject({ status: 404 })
  })
})
