import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { journalOfProject, pushesInState } from '../../../../test/tables/pushes.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import { hostileRefs, storedProject } from '../commits/testing.ts'
import { branchAt, branchesOf } from './testing.ts'

describe('GET branches', () => {
  test('a branch has the whole commit and the permissions of the caller', async ({ world }) => {
    const ann = await world.user()
    const { id, full_path, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const oid = repository.commit({ 'a.txt': 'a' }, { message: 'First line\n\nMore\n' })
    expect((await ann.get(branchesOf(id))).json).toEqual([
      {
        name: 'main',
        commit: {
          ...(await ann.get(`/projects/${id}/repository/commits/${oid}?stats=false`)).json,
          project_id: undefined,
          status: undefined,
          last_pipeline: undefined,
        },
        merged: false,
        protected: false,
        default: true,
        developers_can_push: false,
        developers_can_merge: false,
        can_push: true,
        web_url: `${world.config.externalUrl}/${full_path}/-/tree/main`,
      },
    ])
    expect((await world.anonymous.get(branchAt(id, 'main'))).json).toMatchObject({ can_push: false })
  })

  test('an empty repository has no branches', async ({ world }) => {
    const project = await world.project()
    expect(await world.root.get(branchesOf(project.id))).toMatchObject({
      status: 200,
      json: [],
      headers: { 'x-total': '0' },
    })
    expect(await world.root.get(branchAt(project.id, 'main'))).toMatchObject({ status: 404 })
  })

  test.for([
    ['', ['Fix-1', 'feature/a', 'feature/b', 'fix', 'main', 'prefix'], 'all, by name'],
    ['?search=fix', ['fix', 'Fix-1', 'prefix'], 'a part in any case, the exact name first'],
    ['?search=^fix', ['Fix-1', 'fix'], 'the beginning'],
    ['?search=fix$', ['fix', 'prefix'], 'the end'],
    ['?search=^fix$', ['fix'], 'both'],
    ['?search=/', ['feature/a', 'feature/b'], 'a slash'],
    ['?search=.*', [], 'no wildcards'],
    ['?search=(a%2B)%2B$', [], 'no regular expressions'],
    ['?search=%25', [], 'a percent sign is literal'],
    ['?search=', ['Fix-1', 'feature/a', 'feature/b', 'fix', 'main', 'prefix'], 'an empty search is ignored'],
    ['?regex=^fix', ['fix'], 'an expression, in this case only'],
    [
      '?regex=%5Efeature/.*%24|x%24',
      ['feature/a', 'feature/b', 'fix', 'prefix'],
      'an expression that matches anywhere',
    ],
    ['?regex=^f&search=fix', ['fix'], 'an expression and a search'],
    ['?regex=(a%2B)%2B%24', ['feature/a'], 'an expression in linear time'],
    ['?regex=', ['Fix-1', 'feature/a', 'feature/b', 'fix', 'main', 'prefix'], 'an empty expression is ignored'],
    ['?sort=updated_desc&per_page=2', ['fix', 'prefix'], 'newest commit first'],
    ['?sort=updated_asc&per_page=2', ['main', 'Fix-1'], 'oldest commit first'],
  ] as const)('branches%s lists %s: %s', async ([query, names], { world }) => {
    const { id, repository } = await storedProject(world)
    for (const branch of ['main', 'Fix-1', 'feature/a', 'feature/b', 'prefix', 'fix'])
      repository.commit({ a: branch }, { branch })
    const found = await world.root.get(branchesOf(id) + query)
    expect(found.json.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  test('400 for an expression that is not in RE2 syntax, or too long', async ({ world }) => {
    const { id } = await storedProject(world)
    for (const [regex, error] of [
      ['(', 'regex is invalid'],
      ['a(?=b)', 'regex is invalid'],
      ['a'.repeat(256), expect.stringContaining('regex')],
    ])
      expect(await world.root.get(`${branchesOf(id)}?regex=${encodeURIComponent(regex)}`)).toMatchObject({
        status: 400,
        json: { error },
      })
  })

  test('offset and keyset pages contain the same branches', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const names = ['main', ...Array.from({ length: 7 }, (_, n) => `b${n}`)]
    for (const branch of names) repository.commit({ a: branch }, { branch })
    const second = await world.root.get(`${branchesOf(id)}?per_page=3&page=2`)
    expect(second.headers).toMatchObject({ 'x-total': '8', 'x-total-pages': '3', 'x-next-page': '3' })
    const seen: string[] = []
    let path: string | undefined =
      `${branchesOf(id)}?pagination=keyset&per_page=3&search=^&regex=${encodeURIComponent('^(main|b)')}`
    while (path) {
      const got = await world.root.get(path)
      expect(got.status).toBe(200)
      seen.push(...got.json.map(({ name }: { name: string }) => name))
      path = /<([^>]+)>; rel="next"/.exec(got.headers['link'] ?? '')?.[1]?.split('/api/v4')[1]
    }
    expect(seen).toEqual(names.toSorted())
    expect(await world.root.get(`${branchesOf(id)}?pagination=keyset&page_token=nothing`)).toMatchObject({
      status: 400,
      json: { error: 'Invalid page token: nothing' },
    })
  })

  test('merged is true for branches contained in the default branch, except at its tip', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' })
    repository.commit({ a: '2' })
    repository.git('update-ref', 'refs/heads/old', first)
    repository.git('update-ref', 'refs/heads/same', 'refs/heads/main')
    repository.commit({ b: '1' }, { branch: 'ahead', parents: [first] })
    const all = (await world.root.get(branchesOf(id))).json
    const merged = (name: string) => all.find((each: { name: string }) => each.name === name).merged
    expect({ old: merged('old'), same: merged('same'), ahead: merged('ahead'), main: merged('main') }).toEqual({
      old: true,
      same: false,
      ahead: false,
      main: false,
    })
    for (const name of ['old', 'same', 'ahead', 'main'])
      expect((await world.root.get(branchAt(id, name))).json.merged).toBe(merged(name))
  })

  test('branch names with slashes and special characters are one path segment', async ({ world }) => {
    const { id, repository, full_path } = await storedProject(world)
    for (const branch of ['main', 'feature/x', 'ünï#1%41', 'a.json']) repository.commit({ a: branch }, { branch })
    for (const name of ['feature/x', 'ünï#1%41', 'a.json'])
      expect(await world.root.get(branchAt(id, name))).toMatchObject({ status: 200, json: { name } })
    expect((await world.root.get(branchAt(id, 'ünï#1%41'))).json.web_url).toBe(
      `${world.config.externalUrl}/${full_path}/-/tree/%C3%BCn%C3%AF%231%2541`,
    )
    expect(await world.root.head(branchAt(id, 'feature/x'))).toMatchObject({ status: 200, text: '' })
    expect(await world.root.head(branchAt(id, 'nothing'))).toMatchObject({ status: 404 })
    expect(await world.root.get(`${branchesOf(id)}/feature/x`)).toMatchObject({ status: 404 })
  })
})

describe('POST branches', () => {
  test('a branch is created from a branch, a tag or a commit', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const first = repository.commit({ a: '1' })
    const second = repository.commit({ a: '2' })
    repository.git('update-ref', 'refs/tags/v1', first)
    // Of a branch and a tag with the same name, the branch is used.
    repository.git('update-ref', 'refs/tags/main', first)
    const made = async (branch: string, ref: string) => (await ann.post(branchesOf(id), { branch, ref })).json
    expect(await made('from/branch', 'main')).toMatchObject({ name: 'from/branch', commit: { id: second } })
    expect(await made('from/tag', 'v1')).toMatchObject({ commit: { id: first }, merged: true })
    expect(await made('from/commit', first)).toMatchObject({ commit: { id: first } })
    expect(await made('from/short', first.slice(0, 8))).toMatchObject({ commit: { id: first }, default: false })
    expect(repository.git('rev-parse', 'refs/heads/from/branch')).toBe(second)
    const [push] = await journalOfProject(world, id)
    expect(push).toEqual({
      transport: 'api',
      actor_id: ann.id,
      state: 'done',
      ref: 'refs/heads/from/branch',
      moved: true,
    })
    expect(await eventsOf(world, { project: id, kind: 'pushed' })).toHaveLength(4)
  })

  test.for([
    [{ branch: 'main', ref: 'main' }, 400, { message: 'Branch already exists' }],
    [{ branch: 'new', ref: 'nothing' }, 400, { message: 'Invalid reference name: nothing' }],
    [{ branch: 'a b', ref: 'main' }, 400, { message: 'Branch name is invalid' }],
    [
      { branch: '0123456789012345678901234567890123456789', ref: 'main' },
      400,
      { message: 'You cannot create a branch with a 40-character hexadecimal branch name.' },
    ],
    [{ ref: 'main' }, 400, { error: 'branch is missing' }],
    [{ branch: 'x', ref: '' }, 400, { error: 'ref is empty' }],
    [{}, 400, { error: 'branch is missing, ref is missing' }],
    [
      { branch: 'main/x', ref: 'main' },
      400,
      { message: 'The reference refs/heads/main/x cannot be created while refs/heads/main exists' },
    ],
  ] as const)('creating a branch with %j is a %i', async ([input, status, json], { world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    expect(await world.root.post(branchesOf(id), input)).toMatchObject({ status, json })
  })

  test('400 for a branch from a ref of an empty repository', async ({ world }) => {
    const project = await world.project()
    expect(await world.root.post(branchesOf(project.id), { branch: 'x', ref: 'main' })).toMatchObject({
      status: 400,
      json: { message: 'Invalid reference name: main' },
    })
  })

  test.for(['master', 'HEAD'])(
    'a branch from %s of an empty repository starts the default branch with a README',
    async (ref, { world }) => {
      const ann = await world.user()
      const project = await world.project({ members: [[ann, 'maintainer']] })
      expect(await ann.post(branchesOf(project.id), { branch: 'feature', ref })).toMatchObject({
        status: 201,
        json: { name: 'feature', default: false, commit: { message: 'Initial commit' } },
      })
      const all = (await ann.get(branchesOf(project.id))).json
      expect(all.map(({ name, default: isDefault }: { name: string; default: boolean }) => [name, isDefault])).toEqual([
        ['feature', false],
        ['master', true],
      ])
      expect(all[0].commit.id).toBe(all[1].commit.id)
    },
  )

  test('nothing is created in an empty repository if the new branch collides with its default branch', async ({
    world,
  }) => {
    const project = await world.project()
    expect((await world.root.post(branchesOf(project.id), { branch: 'master/x', ref: 'master' })).status).toBe(400)
    expect((await world.root.get(branchesOf(project.id))).json).toEqual([])
    expect((await world.root.get(`/projects/${project.id}`)).json).toMatchObject({
      empty_repo: true,
      default_branch: null,
    })
  })

  test('the default branch of an empty repository can be created from itself', async ({ world }) => {
    const project = await world.project()
    expect(await world.root.post(branchesOf(project.id), { branch: 'master', ref: 'master' })).toMatchObject({
      status: 201,
      json: { name: 'master', default: true, protected: true },
    })
  })

  test('a developer who may not push to the default branch cannot start it with another branch', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'master' })
    expect((await ann.post(branchesOf(project.id), { branch: 'x', ref: 'master' })).status).toBe(403)
    expect((await ann.get(branchesOf(project.id))).json).toEqual([])
  })

  test('one of twelve concurrent creations of the same branch succeeds', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const all = await Promise.all(
      Array.from({ length: 12 }, () => world.root.post(branchesOf(id), { branch: 'raced', ref: 'main' })),
    )
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(all.filter(({ status }) => status !== 201).map(({ text }) => text))).toEqual(
      new Set(['{"message":"Branch already exists"}']),
    )
    expect(await pushesInState(world, id, 'done')).toHaveLength(1)
  })

  test.for(hostileRefs.map((name) => [name.slice(0, 40), name] as const))(
    'the branch or ref %j is not found, and created only if git accepts the name',
    async ([, name], { world }) => {
      const { id, repository } = await storedProject(world)
      repository.commit({ a: '1' })
      const before = repository.git('for-each-ref')
      const from = await world.root.post(branchesOf(id), { branch: 'new', ref: name })
      expect(from.status, from.text).toBe(400)
      expect(repository.git('for-each-ref')).toBe(before)
      for (const got of [
        await world.root.get(branchAt(id, name)),
        await world.root.delete(branchAt(id, name)),
        await world.root.put(`${branchAt(id, name)}/protect`),
        await world.root.get(`${branchesOf(id)}?search=${encodeURIComponent(name)}&page_token=x`),
      ])
        expect(got.status, got.text).toBeLessThan(500)
      const made = await world.root.post(branchesOf(id), { branch: name, ref: 'main' })
      // Git decides which names are valid.
      const isName = (() => {
        try {
          repository.git('check-ref-format', '--branch', name)
          // No file system allows longer names.
          return !/^[0-9a-f]{40}$/.test(name) && !name.startsWith('@{') && name.length < 250
        } catch {
          return false
        }
      })()
      expect(made.status, made.text).toBe(isName ? 201 : 400)
      if (isName) expect(repository.git('rev-parse', `refs/heads/${name}`)).toBe(repository.git('rev-parse', 'main'))
    },
  )
})

test('git fetches branches created by the API, and the API lists pushed ones', async ({ world }) => {
  await using folder = await temporaryFolder()
  const project = await world.project()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'First')
  await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main', 'main:pushed')
  await world.root.post(branchesOf(project.id), { branch: 'made/here', ref: 'pushed' })
  expect(await git(folder.path, 'ls-remote', '--heads', world.remote(project, world.root))).toMatch(
    /refs\/heads\/made\/here\n.*refs\/heads\/main\n.*refs\/heads\/pushed$/,
  )
  expect((await world.root.get(branchesOf(project.id))).json).toHaveLength(3)
})
