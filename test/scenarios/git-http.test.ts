import { createHash, randomBytes } from 'node:crypto'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { bootstrap } from '../../src/commands.ts'
import { repositoriesDir } from '../../src/config.ts'
import { repositoryDir } from '../../src/modules/projects/repositories/location.ts'
import { beginRequest } from '../begun-request.ts'
import { eventsOf } from '../tables/events.ts'
import { addInterruptedPushes, addPush, pushesInState, pushesTo } from '../tables/pushes.ts'
import { workTree } from '../work-tree.ts'
import { Client, git, gitMessages, temporaryFolder, test, type World } from '../world.ts'

/** Begins a push that creates a branch at an object which the project has. `complete` resolves with what git reads. */
function beginPush(url: string, who: Client, { branch, oid }: { branch: string; oid: string }) {
  const line = `${'0'.repeat(40)} ${oid} refs/heads/${branch}\0report-status`
  const emptyPack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])])
  const { begun, complete } = beginRequest(`${url}/git-receive-pack`, {
    auth: `${who.username}:${who.token}`,
    headers: { 'content-type': 'application/x-git-receive-pack-request' },
  })
  const commands = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
  const body = Buffer.concat([commands, emptyPack, createHash('sha1').update(emptyPack).digest()])
  return { begun, complete: async () => (await complete(body)).text }
}

describe('git over HTTP', () => {
  test('a first push is read back through a clone and the API', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    // By default, only maintainers push to an empty repository.
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const work = await workTree(folder.path)

    await git(work, 'push', '-q', world.remote(project, ann), 'main', 'HEAD:refs/heads/feature')

    await git(folder.path, 'clone', '-q', world.remote(project, ann), 'copy')
    expect(await git(join(folder.path, 'copy'), 'rev-parse', 'HEAD')).toBe(await git(work, 'rev-parse', 'HEAD'))
    expect(await git(join(folder.path, 'copy'), 'branch', '--show-current')).toBe('main')
    expect((await ann.get(`/projects/${project.id}`)).json).toMatchObject({ default_branch: 'main', empty_repo: false })
  })

  test('shallow, partial and protocol v0 clones work over HTTP', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project({ visibility: 'public' })
    const work = await workTree(folder.path)
    for (let n = 0; n < 5; n++) await git(work, 'commit', '-q', '--allow-empty', '-m', `more ${n}`)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')

    await git(folder.path, '-c', 'protocol.version=0', 'clone', '-q', project.url, 'v0')
    await git(folder.path, 'clone', '-q', '--depth=2', project.url, 'shallow')
    await git(folder.path, 'clone', '-q', '--filter=blob:none', '--no-checkout', project.url, 'partial')

    expect(await git(join(folder.path, 'v0'), 'rev-list', '--count', 'HEAD')).toBe('6')
    expect(await git(join(folder.path, 'shallow'), 'rev-list', '--count', 'HEAD')).toBe('2')
    expect(await git(join(folder.path, 'partial'), 'rev-list', '--count', 'HEAD')).toBe('6')
  })

  test.for([
    {
      who: 'anonymous',
      visibility: 'private',
      level: 'none',
      pull: /Authentication failed|could not read Username/,
      push: /could not read/,
    },
    { who: 'anonymous', visibility: 'public', level: 'none', pull: undefined, push: /could not read/ },
    { who: 'a stranger', visibility: 'private', level: 'none', pull: /not found/, push: /not found/ },
    { who: 'a stranger', visibility: 'internal', level: 'none', pull: undefined, push: /403/ },
    { who: 'a guest', visibility: 'private', level: 'guest', pull: /403/, push: /403/ },
    { who: 'a reporter', visibility: 'private', level: 'reporter', pull: undefined, push: /403/ },
    { who: 'a developer', visibility: 'private', level: 'developer', pull: undefined, push: undefined },
  ] as const)('git over HTTP: $who, $visibility project', async ({ who, visibility, level, pull, push }, { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ visibility, members: level === 'none' ? [] : [[ann, level]] })
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const url = who === 'anonymous' ? project.url : world.remote(project, ann)

    const pulled = git(folder.path, 'clone', '-q', url, 'copy')
    if (pull) await expect(pulled).rejects.toThrow(pull)
    else await pulled
    const pushed = git(work, 'push', '-q', url, 'HEAD:refs/heads/mine')
    if (push) await expect(pushed).rejects.toThrow(push)
    else await pushed
  })

  test('git over HTTP checks the scopes of tokens and accepts passwords', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const work = await workTree(folder.path)
    const reads = world.remote(project, await world.as(ann, ['read_repository']))
    const writes = world.remote(project, await world.as(ann, ['write_repository']))
    const peeks = world.remote(project, await world.as(ann, ['read_user']))

    await git(work, 'push', '-q', writes, 'main')
    await git(work, 'fetch', '-q', reads)
    await expect(git(work, 'push', '-q', reads, 'main:other')).rejects.toThrow(/403/)
    await expect(git(work, 'fetch', '-q', peeks)).rejects.toThrow(/403/)
    const withPassword = new URL(project.url)
    withPassword.username = ann.username
    withPassword.password = 'correct horse battery'
    await git(work, 'fetch', '-q', withPassword.toString())
    withPassword.password = 'wrong horse battery'
    await expect(git(work, 'fetch', '-q', withPassword.toString())).rejects.toThrow(/Authentication failed/)
  })

  test('pushes that delete the default branch or name a branch like a commit are refused', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    await git(work, 'push', '-q', url, 'main')

    await expect(git(work, 'push', '-q', url, ':main')).rejects.toThrow(
      /The default branch of a project cannot be deleted/,
    )
    const named = '0123456789012345678901234567890123456789'
    await expect(git(work, 'push', '-q', url, `HEAD:refs/heads/${named}`)).rejects.toThrow(/40-character hexadecimal/)
    await expect(git(work, 'push', '-q', url, 'HEAD:refs/keep-around/x')).rejects.toThrow()
    expect(await git(work, 'ls-remote', url)).toMatch(/^[0-9a-f]{40}\tHEAD\n[0-9a-f]{40}\trefs\/heads\/main$/)
  })

  test('pushes of invalid ref names are refused, in an empty repository too', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    for (const name of ['heads/-x', 'heads/HEAD', 'tags/-x'])
      await expect(git(work, 'push', '-q', url, `HEAD:refs/${name}`)).rejects.toThrow(/cannot be called/)
    const bytes = `alias.odd=!git push -q '${url}' "HEAD:refs/heads/$(printf 'a\\377')"`
    await expect(git(work, '-c', bytes, 'odd')).rejects.toThrow(/must be text in UTF-8/)
    for (const long of [`${'é'.repeat(126)}`, Array.from({ length: 9 }, () => 'n'.repeat(120)).join('/')])
      await expect(git(work, 'push', '-q', url, `HEAD:refs/heads/${long}`)).rejects.toThrow(
        'has at most 1024 bytes, and at most 250 between slashes',
      )
    expect(await git(work, 'ls-remote', url)).toBe('')
    await git(work, 'push', '-q', url, 'main')
    expect((await world.root.get(`/projects/${project.id}`)).json).toMatchObject({ default_branch: 'main' })
  })

  test('one push replaces a branch by branches below its name, and back, with the other refs of the push', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    const push = (...words: string[]) => git(work, 'push', '-q', url, ...words)
    const refs = async () =>
      (await git(work, 'ls-remote', '--refs', url)).split('\n').map((line) => line.split('\t')[1])
    await push('main', 'main:topic', 'main:packed/a')
    await push(':topic', 'main:topic/one', 'main:topic/two', 'main:other')
    expect(await refs()).toEqual(
      ['main', 'other', 'packed/a', 'topic/one', 'topic/two'].map((name) => `refs/heads/${name}`),
    )
    await push(':topic/one', ':topic/two', 'main:topic', ':packed/a', 'main:refs/tags/v1')
    expect(await refs()).toEqual(['refs/heads/main', 'refs/heads/other', 'refs/heads/topic', 'refs/tags/v1'])

    // Git moves no such refs in one transaction, so an atomic push is refused, with the reason.
    await expect(push('--atomic', ':topic', 'main:topic/one', 'main:more')).rejects.toThrow(
      /refs\/heads\/topic\/one cannot be created while refs\/heads\/topic exists/,
    )
    expect(await refs()).toEqual(['refs/heads/main', 'refs/heads/other', 'refs/heads/topic', 'refs/tags/v1'])
  })

  test('an archived project is read-only over HTTP', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    await git(work, 'push', '-q', url, 'main')
    await world.archive(project)
    await expect(git(work, 'push', '-q', url, 'main:other')).rejects.toThrow(/403/)
    await git(work, 'fetch', '-q', url)
  })

  test('a fetch follows a renamed project, a push to the old URL is a 403', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const old = world.remote(project, world.root)
    await git(work, 'push', '-q', old, 'main')
    expect((await world.root.put(`/projects/${project.id}`, { path: `${project.path}-new` })).status).toBe(200)
    await git(work, 'fetch', '-q', old)
    await expect(git(work, 'push', '-q', old, 'main:other')).rejects.toThrow(/403/)
  })

  test.for<[string, (world: World, ann: Client, id: number) => Promise<unknown>]>([
    ['the account is blocked', (world, ann) => world.root.post(`/users/${ann.id}/block`)],
    ['the token is revoked', (_world, ann) => ann.delete('/personal_access_tokens/self')],
    ['an administrator becomes a user', (world, ann) => world.root.put(`/users/${ann.id}`, { admin: false })],
    ['the membership ends', (world, ann, id) => world.root.delete(`/projects/${id}/members/${ann.id}`)],
    ['the password is changed', (world, ann) => world.root.put(`/users/${ann.id}`, { password: 'another horse' })],
  ])('a push that has begun is refused once %s', async ([what, end], { world }) => {
    const isAdmin = what.startsWith('an administrator')
    const ann = await world.user({ admin: isAdmin })
    const project = await world.project({
      initialize_with_readme: true,
      ...(!isAdmin && { members: [[ann, 'maintainer']] }),
    })
    const at = `/projects/${project.id}/repository/branches`
    const [main] = (await world.root.get(at)).json
    const { id, username } = ann
    const byPassword = new Client(world.origin, { id, username, token: 'correct horse battery' })
    const who = what.startsWith('the password') ? byPassword : ann
    const push = beginPush(project.url, who, { branch: 'late', oid: main.commit.id })
    await push.begun
    const answer = await end(world, ann, project.id)
    expect(answer).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) })
    expect(await push.complete()).toContain('pre-receive hook declined')
    expect((await world.root.get(at)).json).toHaveLength(1)
  })

  test.for<[string, boolean, (world: World, ann: Client, id: number) => Promise<unknown>]>([
    ['the account was blocked', false, (world, ann) => world.root.post(`/users/${ann.id}/block`)],
    ['the token was revoked', false, (_world, ann) => ann.delete('/personal_access_tokens/self')],
    ['the membership ended', false, (world, ann, id) => world.root.delete(`/projects/${id}/members/${ann.id}`)],
    ['nothing but a second', true, async () => undefined],
  ])('a fetch whose body is still to come, after %s, is answered: %s', async ([, isAnswered, end], { world }) => {
    const ann = await world.user()
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const late = beginRequest(`${project.url}/git-upload-pack`, {
      auth: `${ann.username}:${ann.token}`,
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
    })
    await late.begun
    await end(world, ann, project.id)
    // Longer than the rights of a fetch are trusted.
    await sleep(1000)
    const { text } = await late.complete('0014command=ls-refs\n0000')
    expect(text.includes('refs/heads/')).toBe(isAnswered)
    expect(text.includes('any more')).toBe(!isAnswered)
  })

  test('a push that takes long is accepted while its account and token are valid', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'maintainer']] })
    const at = `/projects/${project.id}/repository/branches`
    const [main] = (await world.root.get(at)).json
    const push = beginPush(project.url, ann, { branch: 'late', oid: main.commit.id })
    await push.begun
    expect(await push.complete()).toContain('ok refs/heads/late')
    expect((await world.root.get(at)).json).toHaveLength(2)
  })

  test('every push is recorded once, with an event and its options', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', '-o', 'ci.skip', world.remote(project, world.root), 'main', 'HEAD:refs/tags/v1')
    const pushes = await pushesTo(world, project.id, 'state', 'transport', 'options', 'moved')
    expect(pushes).toEqual([{ state: 'done', transport: 'http', options: ['ci.skip'], moved: 2 }])
    const events = await eventsOf(world, { project: project.id, kind: 'pushed' }, 'payload')
    expect(events).toMatchObject([{ payload: { ref_count: 2 } }])
  })

  test('an interrupted push is settled once by recovery', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const head = await git(work, 'rev-parse', 'HEAD')
    // As a crash leaves it: intended and moved, intended and not moved.
    await addInterruptedPushes(world, project.id, head)
    await world.recover()
    await world.recover()
    const states = await pushesTo(world, project.id, 'state')
    expect(states.map(({ state }) => state)).toEqual(['done', 'done', 'dropped'])
    const events = await eventsOf(world, { project: project.id, kind: 'pushed' })
    expect(events).toHaveLength(2)
  })

  test('of 32 concurrent pushes to one branch, one is accepted', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    await git(work, 'push', '-q', url, 'main')
    const base = await git(work, 'rev-parse', 'HEAD')
    const tree = await git(work, 'rev-parse', 'HEAD^{tree}')
    const commits = await Promise.all(
      Array.from({ length: 32 }, (_, n) => git(work, 'commit-tree', tree, '-p', base, '-m', `racer ${n}`)),
    )
    const outcomes = await Promise.allSettled(
      commits.map((commit) => git(work, 'push', '-q', url, `${commit}:refs/heads/main`)),
    )
    const accepted = commits.filter((_, n) => outcomes[n]!.status === 'fulfilled')
    expect(accepted).toHaveLength(1)
    expect(await git(work, 'ls-remote', url, 'refs/heads/main')).toContain(accepted[0])
    expect(await pushesInState(world, project.id, 'done')).toHaveLength(2)
  })

  test('pushing to a path that does not exist creates a private project, for permitted users', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const bob = await world.user()
    const work = await workTree(folder.path)
    const at = (who: typeof ann) => world.remote({ url: `${world.origin}/${ann.username}/from-push.git` } as never, who)
    await expect(git(work, 'push', '-q', at(bob), 'main')).rejects.toThrow(/not found/)
    await git(work, 'push', '-q', '--dry-run', at(ann), 'main')
    expect((await ann.get(`/projects/${ann.username}%2Ffrom-push`)).status).toBe(404)
    const output = await gitMessages(work, 'push', at(ann), 'main')
    expect(output).toContain(`The private project ${ann.username}/from-push was successfully created.`)
    // With curl 8.20 git takes an address without its password for a redirect.
    expect(output.replace(/^warning: redirecting .*\n/, '')).not.toMatch(/error|fatal|warning/i)
    expect((await ann.get(`/projects/${ann.username}%2Ffrom-push`)).json).toMatchObject({
      visibility: 'private',
      default_branch: 'main',
    })
    await expect(git(work, 'push', '-q', `${at(ann).slice(0, -4)}!.git`, 'main')).rejects.toThrow()
    await git(work, 'push', '-q', at(world.root).replace('from-push', 'from-root'), 'main')
    expect((await ann.get(`/projects/${ann.username}%2Ffrom-root`)).status).toBe(200)
  })

  test('a refused push that has created its project says both, and the next one goes there', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const work = await workTree(folder.path)
    const remote = world.remote({ url: `${world.origin}/${ann.username}/refused.git` } as never, ann)
    const push = (ref: string) =>
      gitMessages(work, 'push', remote, ref).catch((error: { stderr: string }) => error.stderr)
    const output = await push('main:refs/heads/0123456789012345678901234567890123456789')
    expect(output).toContain('You cannot create a branch with a 40-character hexadecimal branch name.')
    expect(output).toContain(`The private project ${ann.username}/refused was successfully created.`)
    expect((await ann.get(`/projects/${ann.username}%2Frefused`)).json).toMatchObject({ empty_repo: true })
    expect(await push('main')).not.toContain('created')
    expect((await ann.get(`/projects/${ann.username}%2Frefused`)).json).toMatchObject({ default_branch: 'main' })
  })

  test('a push that cannot create its project shows why, and creates nothing', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const work = await workTree(folder.path)
    const pushTo = (path: string) =>
      gitMessages(
        work,
        'push',
        world.remote({ url: `${world.origin}/${ann.username}/${path}.git` } as never, ann),
        'main',
      ).catch((error: { stderr: string }) => error.stderr)
    expect(await pushTo('-x')).toContain("path can contain only letters, digits, '_', '-' and '.'.")
    expect(await pushTo('wikis')).toContain('path wikis is a reserved name')
    expect((await ann.post('/projects', { name: 'Taken', path: 'elsewhere' })).status).toBe(201)
    expect(await pushTo('Taken')).toContain('name has already been taken')
    await world.settings({ restricted_visibility_levels: ['private'] })
    expect(await pushTo('kept')).toContain('visibility_level private has been restricted')
    await world.settings({ restricted_visibility_levels: [] })
    await world.root.put(`/users/${ann.id}`, { projects_limit: 1 })
    expect(await pushTo('another')).toContain('Your project limit is 1 projects!')
    expect((await ann.get('/projects?owned=true')).json).toHaveLength(1)
  })

  test('a large first push names the project that it creates, and creates none when it is only announced', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const work = await workTree(folder.path)
    await writeFile(join(work, 'large.bin'), randomBytes(2 * 1024 * 1024))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Large file')
    const url = `${world.origin}/${ann.username}/large.git`
    // Git announces a push that it cannot repeat with an empty one, to learn whether it needs credentials.
    const announced = await fetch(`${url}/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${ann.username}:${ann.token}`).toString('base64')}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body: '0000',
    })
    expect([announced.status, announced.headers.get('content-type'), await announced.text()]).toEqual([
      200,
      'application/x-git-receive-pack-result',
      '',
    ])
    expect((await ann.get(`/projects/${ann.username}%2Flarge`)).status).toBe(404)
    const output = await gitMessages(work, 'push', world.remote({ url } as never, ann), 'main')
    expect(output).toContain(`The private project ${ann.username}/large was successfully created.`)
  })

  test('a project can be created with a README', async ({ world }) => {
    const made = await world.root.post('/projects', {
      name: 'Begun here',
      path: `begun-${Date.now()}`,
      description: 'What it is',
      initialize_with_readme: true,
    })
    expect(made).toMatchObject({ status: 201, json: { default_branch: 'master', empty_repo: false } })
    const raw = await world.root.get(`/projects/${made.json.id}/repository/files/README.md/raw?ref=master`)
    expect(raw).toMatchObject({ status: 200, text: '# Begun here\n\nWhat it is' })
    const [commit] = (await world.root.get(`/projects/${made.json.id}/repository/commits`)).json
    expect(commit).toMatchObject({ title: 'Initial commit', author_name: 'Administrator' })
  })

  test('a start removes the lock of an interrupted push, and no other lock', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [project, other] = [await world.project(), await world.project()]
    const work = await workTree(folder.path)
    const lock = ({ id }: { id: number }) =>
      join(repositoryDir(repositoriesDir(world.config), 'default', id), 'refs/heads/main.lock')
    // However slow the machine is, they are locks of a moment ago: where no git runs, older ones go with the first push.
    const inAnHour = Date.now() / 1000 + 3600
    for (const each of [project, other]) {
      await git(work, 'push', '-q', world.remote(each, world.root), 'main')
      await writeFile(lock(each), '')
      await utimes(lock(each), inAnHour, inAnHour)
    }
    await addPush(world, project.id)
    await bootstrap(world.config, world.databaseUrl)
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'after the crash')
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    await expect(git(work, 'push', '-q', world.remote(other, world.root), 'main')).rejects.toThrow()
  })

  test('concurrent equal pushes emit one event', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = world.remote(project, world.root)
    await git(work, 'push', '-q', url, 'main')
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'again')
    await Promise.allSettled(Array.from({ length: 8 }, () => git(work, 'push', '-q', url, 'main')))
    const events = await eventsOf(world, { project: project.id, kind: 'pushed' })
    expect(events).toHaveLength(2)
  })

  test('a client that asks for the URL without .git after the redirect is answered as for the one with it', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const project = await world.project({ visibility: 'public' })
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const ask = async (url: string) => {
      const { status, text } = await world.anonymous.send('POST', `/${new URL(url).pathname}/git-upload-pack`, {
        headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
        body: '0014command=ls-refs\n00010000',
      })
      return [status, text]
    }
    const answer = await ask(project.url)
    expect(answer).toEqual([200, expect.stringMatching(/ refs\/heads\/main\n/)])
    expect(await ask(project.url.replace(/\.git$/, ''))).toEqual(answer)
  })

  test('URLs without .git redirect to those with it', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    const answer = await world.anonymous.get(`//${project.full_path}/info/refs?service=git-upload-pack`)
    expect(answer).toMatchObject({
      status: 301,
      headers: { location: `${project.url}/info/refs?service=git-upload-pack` },
    })
    expect(await world.anonymous.get(`//${project.full_path}.git/info/refs`)).toMatchObject({ status: 403 })
    expect(await world.anonymous.get(`//no/such.git/info/refs?service=git-upload-pack`)).toMatchObject({
      status: 401,
      text: 'HTTP Basic: Access denied\n',
      headers: { 'www-authenticate': 'Basic realm="Stithy"' },
    })
  })
})
