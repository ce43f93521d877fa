import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Oid } from '../../src/git/format/oid.ts'
import type { RefName } from '../../src/git/format/ref-name.ts'
import { writeCommitGraph } from '../../src/git/transfer/maintenance.ts'
import { projectRepositoryDir } from '../../src/modules/projects/repositories/location.ts'
import { lfs } from '../../src/modules/pushes/large-files/testing.ts'
import { recordIntent, settle } from '../../src/modules/pushes/pushes/journal.ts'
import { findSideRepositoryById } from '../../src/modules/pushes/side-repositories/queries.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { contextFor } from '../contexts.ts'
import { HookReceiver } from '../hook-receiver.ts'
import { pushesToSide, sideRepositoryRows } from '../tables/side-repositories.ts'
import { git, type TestProject, temporaryFolder, test } from '../world.ts'

const damaged = {
  message:
    '503 The repository is damaged: git on the server could not read it. Please contact your Stithy administrator.',
}

const fileOf = (gitDir: string, oid: string) => join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))

describe('a branch whose commit is missing', () => {
  test.for(['POST', 'PUT', 'DELETE'] as const)(
    'is not replaced by a commit of the API: %s of a file',
    async (method, { world }) => {
      const { id, repository } = await storedProject(world)
      repository.commit({ a: '1' })
      const tip = repository.commit({ b: '1' }, { branch: 'next' })
      await rm(fileOf(repository.gitDir, tip))
      const path = `/projects/${id}/repository/files/b`
      const input = { branch: 'next', content: '2', commit_message: 'Change' }
      expect(await world.root.send(method, path, { json: input })).toMatchObject({ status: 503, json: damaged })
      expect(repository.git('rev-parse', 'refs/heads/next')).toBe(tip)
    },
  )

  test('is not replaced by a cherry-pick', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const tip = repository.commit({ b: '1' }, { branch: 'next' })
    await rm(fileOf(repository.gitDir, tip))
    expect(
      await world.root.post(`/projects/${id}/repository/commits/main/cherry_pick`, { branch: 'next' }),
    ).toMatchObject({ status: 503, json: damaged })
  })

  test('is not replaced by a page of a wiki', async ({ world }) => {
    const project = await world.project()
    const pages = `/projects/${project.id}/wikis`
    expect(await world.root.post(pages, { title: 'One', content: '1' })).toMatchObject({ status: 201 })
    const [found] = await sideRepositoryRows(world, { project_id: project.id })
    const ctx = await contextFor(world, world.root)
    const dir = projectRepositoryDir(ctx, (await findSideRepositoryById(ctx.db, found.id))!)
    const tip = await git(dir, 'commit-tree', '-m', 'Next', '-p', 'HEAD', 'HEAD^{tree}')
    await git(dir, 'update-ref', 'HEAD', tip)
    await rm(fileOf(dir, tip))
    expect(await world.root.post(pages, { title: 'Two', content: '2' })).toMatchObject({ status: 503, json: damaged })
    expect(await git(dir, 'rev-parse', 'refs/heads/master')).toBe(tip)
  })
})

test('the check of the last commit of two files fails as damage if an earlier tree is lost', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  const first = repository.commit({ a: '1', b: '1' })
  const tip = repository.commit({ c: '1' })
  repository.git('commit-graph', 'write', '--reachable')
  await rm(fileOf(repository.gitDir, repository.git('rev-parse', `${first}^{tree}`)))
  const actions = ['a', 'b'].map((file_path) => ({ action: 'update', file_path, content: '2', last_commit_id: first }))
  const commit = { branch: 'main', commit_message: 'Change', actions }
  expect(await world.root.post(`/projects/${id}/repository/commits`, commit)).toMatchObject({
    status: 503,
    json: damaged,
  })
  expect(repository.git('rev-parse', 'main')).toBe(tip)
})

test('push rules report damage if a commit that the commit-graph has is lost', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  repository.commit({ a: '1' })
  const lost = repository.commit({ a: '2' }, { branch: 'topic' })
  const tip = repository.commit({ a: '3' }, { branch: 'topic' })
  repository.git('commit-graph', 'write', '--reachable')
  repository.git('update-ref', 'refs/merge-requests/1/head', tip)
  repository.git('update-ref', '-d', 'refs/heads/topic')
  await rm(fileOf(repository.gitDir, lost))
  await world.root.post(`/projects/${id}/push_rule`, { commit_message_regex: 'Change' })
  const made = await world.root.post(`/projects/${id}/repository/branches`, { branch: 'new', ref: tip })
  expect(made.json).toEqual(damaged)
})

describe('a branch that has lost a commit of its history', () => {
  test('does not make old commits new ones, which push rules refuse', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const old = repository.commit({ a: '1' }, { message: 'Old' })
    const lost = repository.commit({ a: '2' })
    repository.commit({ a: '3' })
    await world.root.post(`/projects/${id}/push_rule`, { commit_message_regex: 'Change' })
    const branches = `/projects/${id}/repository/branches`
    await rm(fileOf(repository.gitDir, lost))
    expect(await world.root.post(branches, { branch: 'again', ref: old })).toMatchObject({ status: 503, json: damaged })
  })

  test('does not make old files changed ones, which others have locked', async ({ world }) => {
    const eve = await world.user()
    const project = await storedProject(world, { members: [[eve, 'developer']] })
    const { id, repository } = project
    const old = repository.commit({ a: '1' })
    const lost = repository.commit({ a: '2' })
    repository.commit({ a: '3' })
    expect((await lfs(world.root, project, 'POST', 'locks', { json: { path: 'a' } })).status).toBe(201)
    const branches = `/projects/${id}/repository/branches`
    expect((await eve.post(branches, { branch: 'first', ref: old })).status).toBe(201)
    expect((await eve.delete(`${branches}/first`)).status).toBe(204)
    await rm(fileOf(repository.gitDir, lost))
    expect(await eve.post(branches, { branch: 'again', ref: old })).toMatchObject({ status: 503, json: damaged })
  })
})

test.for(['lost', 'corrupt'] as const)('a search does not skip a file whose content is %s', async (kind, { world }) => {
  const { id, repository } = await storedProject(world)
  repository.commit({ a: 'needle', b: 'hay' })
  const file = fileOf(repository.gitDir, repository.git('rev-parse', 'main:a'))
  await rm(file)
  if (kind === 'corrupt') await writeFile(file, 'noise')
  for (const text of ['needle', 'hay'])
    expect(await world.root.get(`/projects/${id}/search?scope=blobs&search=${text}`)).toMatchObject({
      status: 503,
      json: damaged,
    })
})

test.for([
  ['a lost tree', 'HEAD^{tree}', undefined],
  ['a corrupt tree', 'HEAD^{tree}', 'noise'],
  ['a lost commit', 'HEAD', undefined],
  ['a corrupt commit', 'HEAD', 'noise'],
] as const)(
  'a push that replaces a branch of a wiki with %s is recorded as done',
  async ([, object, content], { world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const page = { title: 'One', content: '1' }
    expect((await world.root.post(`/projects/${project.id}/wikis`, page)).status).toBe(201)
    const [{ id }] = (await sideRepositoryRows(world, { project_id: project.id })) as [{ id: number }]
    const ctx = await contextFor(world, world.root)
    const dir = projectRepositoryDir(ctx, (await findSideRepositoryById(ctx.db, id))!)
    const file = fileOf(dir, await git(dir, 'rev-parse', object))
    await rm(file)
    if (content !== undefined) await writeFile(file, content)
    await git(folder.path, 'init', '-q', '-b', 'master')
    await writeFile(join(folder.path, 'Two.md'), '2')
    await git(folder.path, 'add', '.')
    await git(folder.path, 'commit', '-qm', 'Two')
    const url = world.remote({ ...project, url: `${world.origin}/${project.full_path}.wiki.git` }, world.root)
    await git(folder.path, 'push', '-qf', url, 'master')
    expect(await git(dir, 'rev-parse', 'master')).toBe(await git(folder.path, 'rev-parse', 'master'))
    expect((await pushesToSide(world, id)).map(({ state }) => state)).toEqual(['done', 'done'])
  },
)

test.for([
  ['noise', () => 'noise\0'.repeat(20)],
  ['a part of its last line', (text: string) => text.slice(0, -30)],
  ['a line that is no ref', (text: string) => `${text}noise\n`],
] as const)('refs are not taken for deleted if the list of packed ones has %s', async ([, damage], { world }) => {
  await using folder = await temporaryFolder()
  const { id, full_path, repository } = await storedProject(world)
  repository.commit({ a: '1' })
  repository.git('branch', 'next')
  repository.git('pack-refs', '--all')
  const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
  await git(folder.path, 'clone', '-q', '--mirror', url, 'mirror')
  const packed = join(repository.gitDir, 'packed-refs')
  const whole = await readFile(packed, 'utf8')
  await writeFile(packed, damage(whole))
  for (const what of ['branches', 'branches/next', 'commits?all=true', 'tree'])
    expect(await world.root.get(`/projects/${id}/repository/${what}`), what).toMatchObject({
      status: 503,
      json: damaged,
    })
  const mirror = join(folder.path, 'mirror')
  await expect(git(mirror, 'fetch', '--prune', 'origin')).rejects.toThrow('The repository is damaged')
  await expect(git(mirror, 'push', url, 'HEAD:refs/heads/new')).rejects.toThrow('The repository is damaged')
  expect((await git(mirror, 'for-each-ref', '--format=%(refname)')).split('\n')).toHaveLength(2)
  await writeFile(packed, whole)
  expect((await world.root.get(`/projects/${id}/repository/branches`)).json).toHaveLength(2)
})

test.for(['HEAD', 'config', 'objects'] as const)(
  'a repository without a usable %s is not empty',
  async (what, { world }) => {
    await using folder = await temporaryFolder()
    const { id, full_path, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const place = join(repository.gitDir, what)
    await rm(place, { recursive: true })
    if (what !== 'HEAD') await writeFile(place, '[')
    repository.repo.lookAgain()
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
    await expect(git(folder.path, 'clone', '-q', url, 'clone')).rejects.toThrow('The repository is damaged')
    const at = `/projects/${id}/repository`
    expect(await world.root.get(`${at}/tree`)).toMatchObject({ status: 503, json: damaged })
    expect(
      (await world.root.post(`${at}/files/b`, { branch: 'new', content: '', commit_message: 'b' })).status,
    ).toBeGreaterThan(399)
  },
)

test.for(['lost', 'corrupt'] as const)('a branch or tag with a %s commit hides no other', async (kind, { world }) => {
  const { id, repository } = await storedProject(world)
  const good = repository.commit({ a: '1' })
  const bad = repository.commit({ b: '1' }, { branch: 'bad' })
  repository.git('tag', 'good', good)
  repository.git('tag', 'bad', bad)
  repository.git('tag', '-am', 'Notes', 'of-bad', bad)
  const file = fileOf(repository.gitDir, bad)
  await rm(file)
  if (kind === 'corrupt') await writeFile(file, 'noise')
  const at = `/projects/${id}/repository`
  const shown = async (path: string) =>
    [(await world.root.get(at + path)).json].flat().map(({ name, commit }) => [name, commit?.id])
  expect(await shown('/branches')).toEqual([
    ['bad', undefined],
    ['main', good],
  ])
  expect(await shown('/branches?sort=updated_desc')).toEqual([
    ['main', good],
    ['bad', undefined],
  ])
  expect(await shown('/branches/bad')).toEqual([['bad', undefined]])
  for (const order of ['', '?order_by=name'])
    expect((await shown(`/tags${order}`)).toSorted()).toEqual([
      ['bad', undefined],
      ['good', good],
      ['of-bad', undefined],
    ])
  expect((await world.root.get(`${at}/tags/of-bad`)).json).toMatchObject({ message: 'Notes', commit: null })
  const unmodified = { headers: { 'if-unmodified-since': 'Wed, 01 Jan 2070 00:00:00 GMT' } }
  expect(await world.root.delete(`${at}/branches/bad`, unmodified)).toMatchObject({ status: 204 })
  expect(await world.root.delete(`${at}/tags/bad`, unmodified)).toMatchObject({ status: 204 })
})

test('a lost commit or file is not taken for one that never existed', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  repository.commit({ a: '1', b: '2' })
  const tip = repository.commit({ c: '3' }, { branch: 'next' })
  await rm(fileOf(repository.gitDir, tip))
  await rm(fileOf(repository.gitDir, repository.git('rev-parse', 'main:a')))
  const at = `/projects/${id}/repository`
  for (const what of ['files/a?ref=main', 'files/a/raw?ref=main', 'tree?ref=next', 'commits/next', 'archive?sha=next'])
    expect(await world.root.get(`${at}/${what}`), what).toMatchObject({ status: 503, json: damaged })
  expect(await world.root.post(`${at}/branches`, { branch: 'new', ref: 'next' })).toMatchObject({
    status: 503,
    json: damaged,
  })
  expect(await world.root.get(`${at}/files/b/raw?ref=main`)).toMatchObject({ status: 200, text: '2' })
  expect(await world.root.delete(`${at}/branches/next`)).toMatchObject({ status: 204 })
})

test('a damaged object is named as the cause by every reader of it', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  repository.commit({ a: '1', 'd/f': '1' })
  repository.commit({ b: '1', 'd/f': '2' }, { branch: 'next' })
  await rm(fileOf(repository.gitDir, repository.git('rev-parse', 'next:d')))
  for (const what of [
    'archive?sha=next',
    'tree?ref=next&recursive=true',
    'commits/next/diff',
    'compare?from=main&to=next',
    'files/d%2Ff/blame?ref=next',
  ])
    expect(await world.root.get(`/projects/${id}/repository/${what}`), what).toMatchObject({
      status: 503,
      json: damaged,
    })
})

test('a damaged commit-graph is removed and written again, and hides no history', async ({ world }) => {
  await using folder = await temporaryFolder()
  const { id, full_path, repository } = await storedProject(world)
  for (let at = 0; at < 3; at++) repository.commit({ a: String(at) })
  const graph = join(repository.gitDir, 'objects/info/commit-graph')
  const spoil = async () => {
    repository.git('commit-graph', 'write', '--reachable')
    const content = await readFile(graph)
    const rows = Number(content.readBigUInt64BE(content.indexOf('CDAT') + 4))
    // The first parent of each commit, after its tree.
    for (let at = 0; at < 3; at++) content.writeUInt32BE(0x12345678, rows + 36 * at + 20)
    await rm(graph)
    await writeFile(graph, content)
  }
  await spoil()
  expect((await world.root.get(`/projects/${id}/repository/commits?all=true&path=a`)).json).toHaveLength(3)
  await spoil()
  const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
  await expect.poll(() => git(folder.path, 'clone', '-q', url, 'clone').then(() => 'done', String)).toBe('done')
  await spoil()
  await writeCommitGraph(repository.repo)
  repository.git('commit-graph', 'verify')
})

test.for(['one file', 'layers'] as const)(
  'a commit-graph in %s with wrong parents hides no history',
  async (kind, { world }) => {
    const { id, repository } = await storedProject(world)
    const [first] = [0, 1, 2].map((at) => repository.commit({ a: String(at) }))
    repository.git('commit-graph', 'write', '--reachable', '--changed-paths', ...(kind === 'layers' ? ['--split'] : []))
    const info = join(repository.gitDir, 'objects/info')
    const folder = kind === 'layers' ? join(info, 'commit-graphs') : info
    const graph = join(folder, (await readdir(folder)).find((name) => /graph$/.test(name))!)
    const content = await readFile(graph)
    const rows = Number(content.readBigUInt64BE(content.indexOf('CDAT') + 4))
    // No commit has a parent.
    for (let at = 0; at < 3; at++) content.writeUInt32BE(0x70000000, rows + 36 * at + 20)
    await rm(graph)
    await writeFile(graph, content)
    const at = `/projects/${id}/repository`
    for (const what of ['commits?ref_name=main', 'commits?path=a', 'commits?all=true'])
      expect((await world.root.get(`${at}/${what}`)).json, what).toHaveLength(3)
    expect((await world.root.get(`${at}/compare?from=${first}&to=main`)).json.commits).toHaveLength(2)
  },
)

test.for([
  ['no content', ''],
  ['zeros', '\0'.repeat(41)],
  ['a part of an id', '0123456789abcdef'],
] as const)(
  'a branch or tag whose file has %s hides no other, and no mirror deletes it',
  async ([, content], { world }) => {
    await using folder = await temporaryFolder()
    const { id, full_path, repository } = await storedProject(world)
    const tip = repository.commit({ a: '1' })
    for (const [kind, name] of [
      ['branch', 'bad'],
      ['branch', 'packed'],
      ['tag', 'bad'],
    ] as const)
      repository.git(kind, name)
    repository.git('pack-refs', '--all')
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
    await git(folder.path, 'clone', '-q', '--mirror', url, 'mirror')
    const mirror = join(folder.path, 'mirror')
    for (const ref of ['heads/bad', 'tags/bad']) await writeFile(join(repository.gitDir, 'refs', ref), content)
    const at = `/projects/${id}/repository`
    for (const kind of ['branches', 'tags'])
      expect((await world.root.get(`${at}/${kind}`)).json.map(({ name, commit }: any) => [name, commit?.id])).toEqual(
        kind === 'tags'
          ? [['bad', undefined]]
          : [
              ['main', tip],
              ['packed', tip],
              ['bad', undefined],
            ],
      )
    for (const what of [
      'branches/bad',
      'tags/bad',
      'commits/bad',
      'tree?ref=bad',
      'commits?ref_name=bad',
      'commits?all=true',
    ])
      expect(await world.root.get(`${at}/${what}`), what).toMatchObject({ status: 503, json: damaged })
    for (const what of ['branches/main', 'commits/main', 'tree', 'commits'])
      expect((await world.root.get(`${at}/${what}`)).status, what).toBe(200)
    await expect(git(mirror, 'fetch', '--prune', 'origin')).rejects.toThrow('The repository is damaged')
    expect((await git(mirror, 'for-each-ref', '--format=%(refname)')).split('\n')).toHaveLength(4)
    await git(folder.path, 'clone', '-q', '--no-tags', '--single-branch', '-b', 'main', url, 'clone')
    const clone = join(folder.path, 'clone')
    await git(clone, 'commit', '-q', '--allow-empty', '-m', 'Next')
    await expect(git(clone, 'push', '-q', url, 'HEAD:refs/heads/bad')).rejects.toThrow('The repository is damaged')
    const input = { branch: 'bad', content: '2', commit_message: 'Change' }
    expect(await world.root.post(`${at}/files/b`, input)).toMatchObject({ status: 503, json: damaged })
    expect((await world.root.post(`${at}/files/b`, { ...input, branch: 'main' })).status).toBe(201)
  },
)

test.for([
  ['few', 1],
  ['many', 150],
] as const)(
  'a push of %s files is received although the files of another branch and of a tag are damaged',
  async ([, count], { world }) => {
    await using folder = await temporaryFolder()
    const { id, full_path, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    repository.git('branch', 'bad')
    repository.git('tag', 'bad')
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
    await git(folder.path, 'clone', '-q', url, 'clone')
    await world.root.post(`/projects/${id}/push_rule`, { commit_message_regex: 'More', max_file_size: 1 })
    await world.root.post(`/projects/${id}/protected_branches`, { name: 'main' })
    for (const ref of ['heads/bad', 'tags/bad']) await writeFile(join(repository.gitDir, 'refs', ref), '')
    const clone = join(folder.path, 'clone')
    for (let at = 0; at < count; at++) await writeFile(join(clone, `${at}.txt`), String(at))
    await git(clone, 'add', '.')
    await git(clone, 'commit', '-qm', 'More')
    await expect(git(clone, 'push', '-q', url, 'HEAD:refs/heads/bad')).rejects.toThrow()
    await expect(git(clone, 'push', '-q', '--force', url, 'HEAD:refs/tags/bad')).rejects.toThrow()
    await git(clone, 'push', '-q', url, 'HEAD:refs/heads/main', 'HEAD:refs/heads/new')
    const tip = await git(clone, 'rev-parse', 'HEAD')
    for (const name of ['main', 'new']) expect(repository.git('rev-parse', `refs/heads/${name}`)).toBe(tip)
    for (const ref of ['heads/bad', 'tags/bad'])
      expect(await readFile(join(repository.gitDir, 'refs', ref), 'utf8')).toBe('')
  },
)

describe('a branch or tag whose file is damaged', () => {
  test.for([
    ['loose', false],
    ['packed', true],
  ] as const)('is deleted on request, also an older one that is %s', async ([, isPacked], { world }) => {
    const { id, repository } = await storedProject(world)
    const tip = repository.commit({ a: '1' })
    for (const kind of ['branch', 'tag']) repository.git(kind, 'bad')
    if (isPacked) repository.git('pack-refs', '--all')
    for (const ref of ['heads/bad', 'tags/bad']) await writeFile(join(repository.gitDir, 'refs', ref), '')
    const unmodified = { headers: { 'if-unmodified-since': 'Wed, 01 Jan 2070 00:00:00 GMT' } }
    for (const kind of ['branches', 'tags'] as const) {
      const at = `/projects/${id}/repository/${kind}`
      expect(await world.root.delete(`${at}/bad`, unmodified)).toMatchObject({ status: 204 })
      expect(await world.root.get(`${at}/bad`)).toMatchObject({ status: 404 })
      expect(await world.root.delete(`${at}/bad`)).toMatchObject({ status: 404 })
    }
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    const [event] = (await world.root.get(`/projects/${id}/events`)).json
    expect(event.push_data).toMatchObject({ action: 'removed', ref: 'bad', commit_from: null, commit_to: null })
    const again = { branch: 'bad', ref: 'main' }
    expect((await world.root.post(`/projects/${id}/repository/branches`, again)).json.commit.id).toBe(tip)
  })

  test('is not taken for deleted after a crash', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const tip = repository.commit({ a: '1' }) as Oid
    repository.git('branch', 'bad')
    const ctx = await contextFor(world, world.root)
    const change = { name: 'refs/heads/bad' as RefName, from: tip, to: null }
    const push = await recordIntent(
      ctx,
      {
        projectId: id,
        actorId: ctx.actor!.id,
        transport: 'http',
        options: [],
        changes: [change],
      },
      async () => {},
    )
    await writeFile(join(repository.gitDir, 'refs/heads/bad'), '')
    expect(await settle(ctx, push)).toEqual([])
  })

  test('does not hide other branches and stop their pushes if it is the default branch', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { id, full_path, repository } = await storedProject(world)
    const tip = repository.commit({ a: '1' })
    repository.git('branch', 'other')
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
    await git(folder.path, 'clone', '-q', url, 'clone')
    await world.root.post(`/projects/${id}/push_rule`, { commit_message_regex: 'Next' })
    await using receiver = await HookReceiver.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await world.root.post(`/projects/${id}/hooks`, { url: receiver.url, push_events: true })
    await world.runJobs()
    await writeFile(join(repository.gitDir, 'refs/heads/main'), '')
    const at = `/projects/${id}/repository`
    const shown = (await world.root.get(`${at}/branches`)).json.map(({ name, commit }: any) => [name, commit?.id])
    expect(shown).toEqual([
      ['other', tip],
      ['main', undefined],
    ])
    expect((await world.root.get(`${at}/branches/other`)).status).toBe(200)
    const clone = join(folder.path, 'clone')
    await git(clone, 'commit', '-q', '--allow-empty', '-m', 'Next')
    await git(clone, 'push', '-q', url, 'HEAD:refs/heads/new')
    expect((await world.root.post(`${at}/branches`, { branch: 'more', ref: 'other' })).status).toBe(201)
    const events = (await world.root.get(`/projects/${id}/events`)).json
    expect(events.flatMap(({ push_data }: any) => push_data?.ref ?? [])).toEqual(['more', 'new'])
    await receiver.request(({ json }) => json.ref === 'refs/heads/new')
  })

  test('does not hide other releases', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const tip = repository.commit({ a: '1' })
    const at = `/projects/${id}/releases`
    for (const tag_name of ['v1', 'v2']) await world.root.post(at, { tag_name, ref: 'main', description: tag_name })
    await writeFile(join(repository.gitDir, 'refs/tags/v1'), '')
    const shown = (await world.root.get(at)).json.map(({ tag_name, commit }: any) => [tag_name, commit?.id])
    expect(shown).toEqual([
      ['v2', tip],
      ['v1', undefined],
    ])
  })
})
