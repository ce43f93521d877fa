import { describe, expect } from 'vitest'
import { shareProject } from '../../../../test/tables/access.ts'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'

/** A project with a branch `main`, a clone of it, and users with these levels. */
async function cloned(world: World, folder: string, rules: readonly object[], people: readonly Level[]) {
  const members = await Promise.all(people.map(async (level) => [await world.user(), level] as [Client, Level]))
  const project = await storedProject(world, { visibility: 'private', members })
  const first = project.repository.commit({ 'a.txt': '1' })
  const second = project.repository.commit({ 'a.txt': '2' })
  for (const rule of rules) {
    const made = await world.root.post(`/projects/${project.id}/protected_branches`, rule)
    expect(made.status, made.text).toBe(201)
  }
  const remote = (who: Client) => world.remote({ url: `${world.origin}/${project.full_path}.git` } as never, who)
  await git(folder, 'clone', '-q', remote(world.root), 'work')
  const work = `${folder}/work`
  return {
    ...project,
    first,
    second,
    work,
    remote,
    people: members.map(([who]) => who),
    commit: () => git(work, 'commit', '-q', '--allow-empty', '-m', `More ${Math.random()}`),
    push: (who: Client, ...refs: string[]) =>
      git(work, 'push', '-q', remote(who), ...refs).then(
        () => 'pushed',
        (error: { stderr: string }) =>
          error.stderr
            .split('\n')
            .filter((line) => line.startsWith('remote: '))
            .map((line) => line.slice('remote: '.length).trim())
            .filter((line) => line !== '')
            .join('\n'),
      ),
  }
}

const texts = {
  force: 'You are not allowed to force push code to a protected branch on this project.',
  push: 'You are not allowed to push code to protected branches on this project.',
  remove:
    'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
  removeOverGit: 'You can only delete protected branches using the web interface.',
  create: 'You are not allowed to create protected branches on this project.',
  basis: 'You can only use an existing protected branch ref as the basis of a new protected branch.',
  createOverGit: 'You can only create protected branches using the web interface and API.',
  change: 'Protected tags cannot be updated.',
  removeTag: 'Protected tags cannot be deleted.',
  createTag: 'You are not allowed to create this tag as it is protected.',
}

describe('pushes to protected branches', () => {
  test.for([
    { push: 0, developer: texts.push, maintainer: texts.push, admin: texts.push },
    { push: 30, developer: 'pushed', maintainer: 'pushed', admin: 'pushed' },
    { push: 40, developer: texts.push, maintainer: 'pushed', admin: 'pushed' },
    { push: 60, developer: texts.push, maintainer: texts.push, admin: 'pushed' },
  ] as const)('push level $push of a protected branch', async ({ push, developer, maintainer, admin }, { world }) => {
    await using folder = await temporaryFolder()
    const rules = [{ name: 'main', push_access_level: push, merge_access_level: 30 }]
    const it = await cloned(world, folder.path, rules, ['developer', 'maintainer'])
    for (const [who, expected] of [
      [it.people[0]!, developer],
      [it.people[1]!, maintainer],
      [world.root, admin],
    ] as const) {
      await it.commit()
      expect(await it.push(who, 'HEAD:main')).toBe(expected)
      const shown = (await who.get(`/projects/${it.id}/repository/branches/main`)).json
      expect(shown).toMatchObject({
        protected: true,
        can_push: expected === 'pushed',
        developers_can_push: push === 30,
        developers_can_merge: true,
      })
    }
  })

  test('only the named user and group push to a branch protected for them', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [], ['developer', 'developer', 'developer', 'maintainer'])
    const [ann, bob, cid, mia] = it.people as [Client, Client, Client, Client]
    const group = await world.group({ members: [[bob, 'guest']] })
    const project = `/projects/${it.id}`
    // There is no API for shares yet.
    await shareProject(world, it.id, group.id, 10)
    const rule = { name: 'main', allowed_to_push: [{ user_id: ann.id }, { group_id: group.id }] }
    expect(await world.root.post(`${project}/protected_branches`, rule)).toMatchObject({ status: 201 })
    const outcomes: string[] = []
    for (const who of [ann, bob, cid, mia, world.root]) {
      await it.commit()
      outcomes.push(await it.push(who, 'HEAD:main'))
    }
    expect(outcomes).toEqual(['pushed', 'pushed', texts.push, texts.push, 'pushed'])
    // A named user who lost their role cannot push.
    await world.root.put(`${project}/members/${ann.id}`, { access_level: 20 })
    await it.commit()
    expect(await it.push(ann, 'HEAD:main')).not.toBe('pushed')
  })

  test('the most permissive of several matching rules decides a push', async ({ world }) => {
    await using folder = await temporaryFolder()
    const rules = [
      { name: 'm*', push_access_level: 0 },
      { name: '*n', push_access_level: 30 },
    ]
    const it = await cloned(world, folder.path, rules, ['developer'])
    await it.commit()
    expect(await it.push(it.people[0]!, 'HEAD:main')).toBe('pushed')
  })

  test('beside a protection that allows no one, a matching one that allows developers lets them push, merge, force and create', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const closed = { push_access_level: 0, merge_access_level: 0 }
    const open = { push_access_level: 30, merge_access_level: 30, allow_force_push: true }
    const rules = [
      { name: 'main', ...closed },
      { name: 'm*', ...open },
      { name: 'release/*', ...closed },
    ]
    const it = await cloned(world, folder.path, rules, ['developer', 'maintainer'])
    const [developer, maintainer] = it.people as [Client, Client]
    const at = `/projects/${it.id}`
    await it.commit()
    expect(await it.push(developer, 'HEAD:main', 'HEAD:topic')).toBe('pushed')
    await git(it.work, 'reset', '-q', '--hard', it.second)
    await it.commit()
    expect(await it.push(developer, '+HEAD:main')).toBe('pushed')
    const opened = { source_branch: 'topic', target_branch: 'main', title: 'Merge' }
    const { iid } = (await developer.post(`${at}/merge_requests`, opened)).json
    expect(await developer.put(`${at}/merge_requests/${iid}/merge`)).toMatchObject({ json: { state: 'merged' } })
    expect((await developer.get(`${at}/repository/branches/main`)).json).toMatchObject({
      protected: true,
      can_push: true,
      developers_can_push: true,
      developers_can_merge: true,
    })
    // Without the open one, only the closed one is left, for maintainers and administrators, too.
    expect((await maintainer.delete(`${at}/protected_branches/m%2A`)).status).toBe(204)
    await git(it.work, 'fetch', '-q', it.remote(world.root), 'main')
    await git(it.work, 'reset', '-q', '--hard', 'FETCH_HEAD')
    await it.commit()
    for (const who of [developer, maintainer, world.root]) {
      expect(await it.push(who, 'HEAD:main')).toBe(texts.push)
      expect(await it.push(who, 'HEAD:refs/heads/release/1')).toBe(texts.create)
    }
    // Unprotecting the branch removes the rule of its name only.
    expect((await maintainer.post(`${at}/protected_branches`, { name: 'ma*', ...closed })).status).toBe(201)
    const unprotected = await maintainer.put(`${at}/repository/branches/main/unprotect`)
    expect(unprotected).toMatchObject({ status: 200, json: { protected: true, can_push: false } })
    expect((await maintainer.get(`${at}/protected_branches/main`)).status).toBe(404)
    expect((await maintainer.get(`${at}/protected_branches/ma%2A`)).status).toBe(200)
  })

  test('a tag that several protections match is created by those whom one of them allows', async ({ world }) => {
    const developer = await world.user()
    const project = await storedProject(world, { members: [[developer, 'developer']] })
    project.repository.commit({ a: 'a' })
    const at = `/projects/${project.id}`
    for (const [name, create_access_level] of [
      ['v*', 0],
      ['v1*', 30],
    ] as const)
      expect((await world.root.post(`${at}/protected_tags`, { name, create_access_level })).status).toBe(201)
    const create = (tag_name: string) => developer.post(`${at}/repository/tags`, { tag_name, ref: 'main' })
    expect(await create('v1.0')).toMatchObject({ status: 201, json: { protected: true } })
    expect(await create('v2.0')).toMatchObject({ status: 400, json: { message: texts.createTag } })
    expect((await world.root.delete(`${at}/protected_tags/v1%2A`)).status).toBe(204)
    expect(await create('v1.1')).toMatchObject({ status: 400, json: { message: texts.createTag } })
  })

  test('a push with one refused branch is refused completely', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [{ name: 'main' }], ['developer'])
    await it.commit()
    expect(await it.push(it.people[0]!, 'HEAD:free', 'HEAD:main')).toBe(texts.push)
    expect(it.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect(await it.push(it.people[0]!, 'HEAD:free')).toBe('pushed')
  })
})

describe('forced pushes and deletions of protected branches', () => {
  test('a forced push to a protected branch is refused unless allow_force_push is set', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [{ name: 'main', push_access_level: 30 }], ['developer', 'maintainer'])
    for (const who of [...it.people, world.root]) {
      await git(it.work, 'reset', '-q', '--hard', it.first)
      await it.commit()
      expect(await it.push(who, '+HEAD:main')).toBe(texts.force)
      // Also to an existing commit.
      expect(await it.push(who, `+${it.first}:main`)).toBe(texts.force)
    }
    expect(it.repository.git('rev-parse', 'main')).toBe(it.second)
    const at = `/projects/${it.id}/protected_branches/main`
    expect(await world.root.send('PATCH', at, { json: { allow_force_push: true } })).toMatchObject({
      status: 200,
      json: { allow_force_push: true },
    })
    expect(await it.push(it.people[0]!, '+HEAD:main')).toBe('pushed')
  })

  test('a push of an unrelated history to a protected branch is refused as forced', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [{ name: 'main', push_access_level: 30 }], ['maintainer'])
    await git(it.work, 'checkout', '-q', '--orphan', 'other')
    await it.commit()
    expect(await it.push(it.people[0]!, '+HEAD:main')).toBe(texts.force)
  })

  test('developers force-push and delete unprotected branches', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [{ name: 'main' }], ['developer'])
    await it.push(it.people[0]!, 'HEAD:mine')
    expect(await it.push(it.people[0]!, `+${it.first}:mine`)).toBe('pushed')
    expect(await it.push(it.people[0]!, ':mine')).toBe('pushed')
  })

  test('a protected branch is deleted by maintainers and by the API only', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [{ name: 'rel-*', push_access_level: 30 }], ['developer', 'maintainer'])
    const [ann, mia] = it.people as [Client, Client]
    expect(await it.push(ann, 'HEAD:rel-1')).toBe('pushed')
    expect(await it.push(ann, ':rel-1')).toBe(texts.remove)
    expect(await it.push(mia, ':rel-1')).toBe(texts.removeOverGit)
    const at = `/projects/${it.id}/repository/branches/rel-1`
    expect(await ann.delete(at)).toMatchObject({ status: 400, json: { message: texts.remove } })
    expect(await mia.delete(at)).toMatchObject({ status: 204 })
  })
})

describe('creation of branches that match a rule', () => {
  test.for([
    { push: 30, merge: 40, git: 'pushed', api: 201, message: undefined },
    { push: 40, merge: 40, git: texts.create, api: 400, message: texts.create },
    { push: 0, merge: 30, git: texts.createOverGit, api: 201, message: undefined },
    { push: 0, merge: 0, git: texts.create, api: 400, message: texts.create },
  ] as const)('push $push, merge $merge: a developer creates over git and by the API', async (row, { world }) => {
    await using folder = await temporaryFolder()
    const rules = [{ name: 'main' }, { name: 'rel-*', push_access_level: row.push, merge_access_level: row.merge }]
    const it = await cloned(world, folder.path, rules, ['developer'])
    const [ann] = it.people as [Client]
    expect(await it.push(ann, 'HEAD:rel-git')).toBe(row.git)
    const made = await ann.post(`/projects/${it.id}/repository/branches`, { branch: 'rel-api', ref: 'main' })
    expect(made).toMatchObject({ status: row.api, json: row.message === undefined ? {} : { message: row.message } })
  })

  test('a user who may only merge creates a protected branch only from a protected one', async ({ world }) => {
    await using folder = await temporaryFolder()
    const rules = [{ name: 'main' }, { name: 'rel-*', push_access_level: 0, merge_access_level: 30 }]
    const it = await cloned(world, folder.path, rules, ['developer'])
    const [ann] = it.people as [Client]
    await it.commit()
    // A commit that only this push contains, then one of an unprotected branch.
    expect(await it.push(ann, 'HEAD:rel-1')).toBe(texts.basis)
    expect(await it.push(ann, 'HEAD:free')).toBe('pushed')
    expect(await it.push(ann, 'HEAD:rel-1')).toBe(texts.basis)
    const make = (ref: string) => ann.post(`/projects/${it.id}/repository/branches`, { branch: 'rel-1', ref })
    expect(await make('free')).toMatchObject({ status: 400, json: { message: texts.basis } })
    expect(await make(it.first)).toMatchObject({ status: 201, json: { protected: true, can_push: false } })
  })
})

describe('protected tags', () => {
  test.for([
    { level: 0, developer: texts.createTag, maintainer: texts.createTag, admin: texts.createTag },
    { level: 30, developer: 'pushed', maintainer: 'pushed', admin: 'pushed' },
    { level: 40, developer: texts.createTag, maintainer: 'pushed', admin: 'pushed' },
  ] as const)(
    'creating tags protected for level $level',
    async ({ level, developer, maintainer, admin }, { world }) => {
      await using folder = await temporaryFolder()
      const it = await cloned(world, folder.path, [], ['developer', 'maintainer'])
      const [ann, mia] = it.people as [Client, Client]
      const tags = `/projects/${it.id}/repository/tags`
      await world.root.post(`/projects/${it.id}/protected_tags`, { name: 'v*', create_access_level: level })
      for (const [who, tag, expected] of [
        [ann, 'v1', developer],
        [mia, 'v2', maintainer],
        [world.root, 'v3', admin],
      ] as const) {
        expect(await it.push(who, `HEAD:refs/tags/${tag}`)).toBe(expected)
        const made = await who.post(tags, { tag_name: `${tag}-api`, ref: 'main' })
        if (expected !== 'pushed') {
          expect(made).toMatchObject({ status: 400, json: { message: expected } })
          continue
        }
        expect(made).toMatchObject({ status: 201, json: { protected: true } })
        await it.commit()
        expect(await it.push(who, `+HEAD:refs/tags/${tag}`)).toBe(texts.change)
        expect(await it.push(who, `:refs/tags/${tag}`)).toBe(texts.removeTag)
        expect(await who.delete(`${tags}/${tag}`)).toMatchObject({ status: 400, json: { message: texts.removeTag } })
      }
      expect(await it.push(ann, 'HEAD:refs/tags/free')).toBe('pushed')
      expect(await it.push(ann, `+${it.first}:refs/tags/free`)).toBe('pushed')
      expect(await it.push(ann, ':refs/tags/free')).toBe('pushed')
    },
  )
})

describe('code owners of files', () => {
  test('files with code owners change only by merge requests if the rule requires it', async ({ world }) => {
    await using folder = await temporaryFolder()
    const it = await cloned(world, folder.path, [], ['maintainer'])
    const [mia] = it.people as [Client]
    it.repository.commit({ 'docs/CODEOWNERS': '# who owns what\n*.sql @ann\n/docs/ bob@example.com\n/docs/free.md\n' })
    await world.root.post(`/projects/${it.id}/protected_branches`, { name: 'main', code_owner_approval_required: true })
    await git(it.work, 'pull', '-q', it.remote(mia), 'main')
    const attempt = async (path: string, text: string) => {
      await git(it.work, 'fetch', '-q', it.remote(mia), 'main')
      await git(it.work, 'reset', '-q', '--hard', 'FETCH_HEAD')
      const blob = it.repository.git('rev-parse', 'main:a.txt')
      await git(it.work, 'update-index', '--add', '--cacheinfo', `100644,${blob},${path}`)
      await git(it.work, 'commit', '-q', '-m', text)
      return it.push(mia, 'HEAD:main')
    }
    expect(await attempt('src/x.sql', 'owned')).toMatch(/match CODEOWNERS are disabled/)
    expect(await attempt('docs/a/b.md', 'owned')).toMatch(/match CODEOWNERS are disabled/)
    expect(await attempt('docs/free.md', 'without an owner')).toBe('pushed')
    expect(await attempt('src/x.ts', 'free')).toBe('pushed')
    // One that is too large to read protects all files.
    it.repository.commit({ CODEOWNERS: `# ${'x'.repeat(1024 * 1024)}\n` })
    expect(await attempt('src/y.ts', 'unknown')).toMatch(/match CODEOWNERS are disabled/)
    // So does one with too many lines.
    it.repository.commit({ CODEOWNERS: `${'/docs/a.md\n'.repeat(10_000)}*.sql @ann\n` })
    expect(await attempt('src/z.sql', 'beyond')).toMatch(/match CODEOWNERS are disabled/)
  })
})
