import { describe, expect } from 'vitest'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { gitIn } from '../../../git/testing.ts'
import { gitCommands, hostilePaths, hostileRefs, storedProject } from './testing.ts'

const commitsOf = (id: number) => `/projects/${id}/repository/commits`

async function storedFiles(world: World) {
  const ann = await world.user({ name: 'Ann Example' })
  const project = await storedProject(world, { visibility: 'private', members: [[ann, 'developer']] })
  const first = project.repository.commit({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', run: { mode: '100755', content: 'x' } })
  const git = (...args: string[]) => project.repository.git(...args)
  return { ann, id: project.id, repository: project.repository, first, git, tip: () => git('rev-parse', 'main') }
}

const commit = (actions: unknown, more: object = {}) => ({ branch: 'main', commit_message: 'Change', actions, ...more })
const create = (file_path: string, content = 'new\n') => ({ action: 'create', file_path, content })
const list = (git: (...args: string[]) => string, ref = 'main') =>
  git('ls-tree', '-r', ref).replaceAll(/ blob [0-9a-f]{40}\t/g, ' ')

describe('POST /projects/:id/repository/commits', () => {
  test('D1-COMMIT-CREATED-RECORD D1-ACTION-CONTENT D1-ACTION-PREVIOUS-PATH D1-ACTION-ENCODING D1-ACTION-CHMOD: a commit with every action', async ({
    world,
  }) => {
    const { ann, id, git, first } = await storedFiles(world)
    const made = await ann.post(
      commitsOf(id),
      commit(
        [
          create('new dir/ü.txt', 'one\ntwo\n'),
          { action: 'create', file_path: 'empty', content: '' },
          { action: 'update', file_path: 'dir/b.txt', content: 'Yg==', encoding: 'base64' },
          { action: 'move', file_path: 'moved/run', previous_path: 'run' },
          { action: 'chmod', file_path: 'a.txt', execute_filemode: true, previous_path: '../ignored' },
          { action: 'chmod', file_path: 'moved/run', execute_filemode: false },
          create('gone'),
          { action: 'delete', file_path: 'gone', content: 'ignored' },
        ],
        { author_name: 'Bob', author_email: 'bob@example.com' },
      ),
    )
    expect(made).toMatchObject({
      status: 201,
      json: {
        id: git('rev-parse', 'main'),
        title: 'Change',
        message: 'Change',
        parent_ids: [first],
        author_name: 'Bob',
        author_email: 'bob@example.com',
        committer_name: 'Ann Example',
        project_id: id,
        status: null,
        last_pipeline: null,
        stats: { additions: 3, deletions: 1, total: 4 },
      },
    })
    expect(made.json).toEqual((await ann.get(`${commitsOf(id)}/main`)).json)
    expect(list(git).split('\n')).toEqual([
      '100755 a.txt',
      '100644 dir/b.txt',
      '100644 empty',
      '100644 moved/run',
      '100644 "new dir/\\303\\274.txt"',
    ])
    expect(git('show', 'main:dir/b.txt')).toBe('b')
    expect(git('show', 'main:moved/run')).toBe('x')
    expect(git('fsck', '--strict')).toBe('')
  })

  test('D1-ACTION-MOVE-CONTENT: a move keeps the content unless it has one, even if empty', async ({ world }) => {
    const { ann, id, git } = await storedFiles(world)
    const move = (previous_path: string, file_path: string, more = {}) => ({
      action: 'move',
      previous_path,
      file_path,
      ...more,
    })
    const made = await ann.post(
      commitsOf(id),
      commit([
        move('a.txt', 'a/a.txt'),
        move('dir/b.txt', 'dir', { content: '' }),
        move('run', 'run/run', { content: 'y' }),
      ]),
    )
    // `dir` exists until its last file is removed.
    expect(made).toMatchObject({ status: 400, json: { message: 'A directory with this name already exists' } })
    const again = await ann.post(
      commitsOf(id),
      commit([
        move('a.txt', 'a/a.txt'),
        move('dir/b.txt', 'c', { content: '' }),
        move('run', 'run/run', { content: 'y' }),
      ]),
    )
    expect(again.status).toBe(201)
    expect(list(git)).toBe('100644 a/a.txt\n100644 c\n100755 run/run')
    expect([git('show', 'main:a/a.txt'), git('show', 'main:c'), git('show', 'main:run/run')]).toEqual(['a', '', 'y'])
  })

  test('D1-COMMIT-STATS-DEFAULT D1-COMMIT-ENCODING: stats can be omitted, forms are accepted', async ({ world }) => {
    const { ann, id } = await storedFiles(world)
    const made = await ann.send('POST', commitsOf(id), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body:
        'branch=main&commit_message=Form&stats=false' +
        '&actions[][action]=create&actions[][file_path]=x%20y&actions[][content]=1&actions[][action]=delete&actions[][file_path]=a.txt',
    })
    expect(made).toMatchObject({ status: 201, json: { title: 'Form' } })
    expect(made.json).not.toHaveProperty('stats')
  })

  const sentences: readonly [what: string, body: object, error: string][] = [
    ['no branch', { commit_message: 'm', actions: [create('x')] }, 'branch is missing'],
    ['a blank branch', commit([create('x')], { branch: ' ' }), 'branch is empty'],
    ['a blank message', commit([create('x')], { commit_message: '' }), 'commit_message is empty'],
    ['no actions', { branch: 'main', commit_message: 'm' }, 'actions is missing'],
    [
      'an unknown action',
      commit([{ action: 'paint', file_path: 'x' }]),
      'actions[0][action] does not have a valid value',
    ],
    ['no path', commit([create('x'), { action: 'create', content: 'x' }]), 'actions[1][file_path] is missing'],
    ['a move from nowhere', commit([{ action: 'move', file_path: 'x' }]), 'actions[0][previous_path] is missing'],
    ['a new file without content', commit([{ action: 'create', file_path: 'x' }]), 'actions[0][content] is missing'],
    ['an update without content', commit([{ action: 'update', file_path: 'x' }]), 'actions[0][content] is missing'],
    ['chmod without a mode', commit([{ action: 'chmod', file_path: 'x' }]), 'actions[0][execute_filemode] is missing'],
    [
      'another encoding',
      commit([{ ...create('x'), encoding: 'rot13' }]),
      'actions[0][encoding] does not have a valid value',
    ],
    [
      'two starts',
      commit([create('x')], { start_branch: 'main', start_sha: 'abc1234' }),
      'start_branch, start_sha are mutually exclusive',
    ],
  ]
  test.for(sentences)('400 for a commit with %s', async ([, body, error], { world }) => {
    const { ann, id, tip, first } = await storedFiles(world)
    expect(await ann.post(commitsOf(id), body)).toMatchObject({ status: 400, json: { error } })
    expect(tip()).toBe(first)
  })

  const exists = (what: string) => `A ${what} with this name already exists`
  const absent = "A file with this name doesn't exist"
  const messages: readonly [what: string, body: object, message: string][] = [
    ['creation of an existing file', commit([create('a.txt')]), exists('file')],
    ['creation of an existing directory', commit([create('dir')]), exists('directory')],
    ['a file below a file', commit([create('a.txt/b')]), exists('file')],
    ['the same file twice', commit([create('x'), create('x')]), exists('file')],
    ['an update of a missing file', commit([{ action: 'update', file_path: 'x', content: '' }]), absent],
    ['an update of a directory', commit([{ action: 'update', file_path: 'dir', content: '' }]), absent],
    ['a removal of a directory', commit([{ action: 'delete', file_path: 'dir' }]), absent],
    ['a move of a directory', commit([{ action: 'move', file_path: 'x', previous_path: 'dir' }]), absent],
    ['a removal of a missing file', commit([{ action: 'delete', file_path: 'dir/x' }]), absent],
    ['a removal below a file', commit([{ action: 'delete', file_path: 'a.txt/x' }]), absent],
    ['a mode of a missing file', commit([{ action: 'chmod', file_path: 'x', execute_filemode: true }]), absent],
    ['a move of a missing file', commit([{ action: 'move', file_path: 'y', previous_path: 'x' }]), absent],
    ['a move onto a file', commit([{ action: 'move', file_path: 'a.txt', previous_path: 'run' }]), exists('file')],
    ['a move onto itself', commit([{ action: 'move', file_path: 'run', previous_path: 'run' }]), exists('file')],
    ['an empty path', commit([create('')]), 'You must provide a file path'],
    [
      'a move from an empty path',
      commit([{ action: 'move', file_path: 'y', previous_path: '' }]),
      'You must provide a file path',
    ],
    ['a path with ..', commit([create('dir/../x')]), 'Path cannot include directory traversal'],
    ['an empty segment', commit([create('dir//x')]), "invalid path: 'dir//x'"],
    ['the .git folder', commit([create('x/.GIT/config')]), "invalid path: 'x/.GIT/config'"],
    ['no actions at all', commit([]), 'Nothing would change: the commit would be empty'],
    [
      'no change',
      commit([{ action: 'update', file_path: 'a.txt', content: 'a\n' }]),
      'Nothing would change: the commit would be empty',
    ],
    ...['a-b', '+/ +/', ' AAA', 'AAA ', 'YWJjZ', 'x', 'YWJj=', 'YQ==Yg==', 'YQ='].map(
      (content): [string, object, string] => [
        `Base64 that is none: ${content}`,
        commit([{ ...create('x', content), encoding: 'base64' }]),
        'The content is not valid Base64',
      ],
    ),
    [
      'a missing branch',
      commit([create('x')], { branch: 'none' }),
      'You can only create or edit files when you are on a branch',
    ],
    [
      'a missing start branch',
      commit([create('x')], { branch: 'new', start_branch: 'none' }),
      'You can only create or edit files when you are on a branch',
    ],
    [
      'an invalid branch name',
      commit([create('x')], { branch: 'a..b', start_branch: 'main' }),
      "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid",
    ],
    [
      'a branch below a branch',
      commit([create('x')], { branch: 'main/x', start_branch: 'main' }),
      "Something went wrong when we tried to create 'main/x' for you: Branch name is invalid",
    ],
    [
      'a branch named like a commit',
      commit([create('x')], { branch: 'a'.repeat(40), start_branch: 'main' }),
      `Something went wrong when we tried to create '${'a'.repeat(40)}' for you: Branch name is invalid`,
    ],
    [
      'an unknown start',
      commit([create('x')], { branch: 'n', start_sha: 'b'.repeat(40) }),
      `Cannot find start_sha '${'b'.repeat(40)}'`,
    ],
    [
      'a submodule that runs a command',
      commit([create('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -u./x\n')]),
      "invalid file: '.gitmodules'",
    ],
  ]
  test.for(messages)('400 with a message for a commit with %s', async ([, body, message], { world }) => {
    const { ann, id, tip, first, git } = await storedFiles(world)
    expect(await ann.post(commitsOf(id), body)).toMatchObject({ status: 400, json: { message } })
    expect(tip()).toBe(first)
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })

  test('D1-COMMIT-NEW-BRANCH D1-COMMIT-FORCE: starts a branch, overwrites one when forced', async ({ world }) => {
    const { ann, id, git, first, repository } = await storedFiles(world)
    const second = repository.commit({ 'c.txt': 'c\n' })
    const send = (more: object) => ann.post(commitsOf(id), commit([create('x')], more))

    expect((await send({ branch: 'one', start_branch: 'main' })).json.parent_ids).toEqual([second])
    expect((await send({ branch: 'two', start_sha: first.slice(0, 10) })).json.parent_ids).toEqual([first])
    const taken = "A branch called 'two' already exists. Switch to that branch in order to make changes"
    expect(await send({ branch: 'two', start_branch: 'main' })).toMatchObject({ status: 400, json: { message: taken } })
    expect(await send({ branch: 'two', start_sha: first })).toMatchObject({ status: 400, json: { message: taken } })

    const forced = await send({ branch: 'two', start_branch: 'main', force: true })
    expect(forced.json.parent_ids).toEqual([second])
    expect(git('rev-parse', 'two')).toBe(forced.json.id)
    expect(git('rev-parse', 'main')).toBe(second)
  })

  test('D1-ACTION-LAST-COMMIT: a file changed since is refused, an unknown commit is ignored', async ({ world }) => {
    const { ann, id, first, repository, tip } = await storedFiles(world)
    const second = repository.commit({ 'a.txt': 'changed\n' })
    const of = (action: object, last_commit_id: string) => commit([{ ...action, last_commit_id }])
    for (const action of [
      { action: 'update', file_path: 'a.txt', content: 'mine' },
      { action: 'delete', file_path: 'a.txt' },
      { action: 'move', file_path: 'z', previous_path: 'a.txt' },
    ])
      expect(await ann.post(commitsOf(id), of(action, first))).toMatchObject({
        status: 400,
        json: { message: 'The file has changed since you started editing it: a.txt' },
      })
    expect(tip()).toBe(second)
    for (const [action, last] of [
      [create('fresh'), first],
      [{ action: 'update', file_path: 'a.txt', content: 'mine' }, second],
      [{ action: 'chmod', file_path: 'a.txt', execute_filemode: true }, first],
      [{ action: 'delete', file_path: 'dir/b.txt' }, first],
    ] as const)
      expect((await ann.post(commitsOf(id), of(action, last))).status).toBe(201)
  })

  test('the last commits of all files of a commit are found together, not by a process for each', async ({ world }) => {
    const { ann, id, repository, first, tip } = await storedFiles(world)
    const names = Array.from({ length: 60 }, (_, index) => `dir/${index % 5}/${index}`)
    const second = repository.commit(Object.fromEntries(names.map((name) => [name, '1'])))
    // Further back than commits are read to walk from one of them.
    const script = Array.from(
      { length: 410 },
      (_, index) =>
        `commit refs/heads/main\ncommitter C <c@example.com> ${1_800_000_000 + index} +0000\ndata 1\nx\n${
          index === 0 ? `from ${second}\n` : ''
        }M 100644 inline other\ndata <<.\n${index}\n.\n`,
    )
    gitIn(repository.gitDir, ['fast-import', '--quiet'], script.join('\n'))
    const actions = (last: string) =>
      names.map((file_path, index) => ({
        action: 'update',
        file_path,
        content: 'mine',
        last_commit_id: index === 40 ? last : second,
      }))
    const before = tip()
    const processes = await gitCommands(world, async () => {
      expect(await ann.post(commitsOf(id), commit(actions(first)))).toMatchObject({
        status: 400,
        json: { message: `The file has changed since you started editing it: ${names[40]}` },
      })
      expect(tip()).toBe(before)
      expect((await ann.post(commitsOf(id), commit(actions(second)))).status).toBe(201)
    })
    expect(processes.filter((words) => words.includes('rev-list') || words.includes('log'))).toEqual([])
  })

  test('the first commit to a repository starts no process of git', async ({ world }) => {
    const ann = await world.user()
    const { id } = await world.project({ members: [[ann, 'maintainer']] })
    const made = async () => expect((await ann.post(commitsOf(id), commit([create('a')]))).status).toBe(201)
    expect(await gitCommands(world, made)).toEqual([])
  })

  test('the first commit creates any branch of an empty repository, which becomes the default', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    expect(await ann.post(commitsOf(project.id), commit([], { branch: 'trunk' }))).toMatchObject({ status: 400 })
    const made = await ann.post(
      commitsOf(project.id),
      commit([create('a/b')], { branch: 'trunk', start_branch: 'none' }),
    )
    expect(made).toMatchObject({ status: 201, json: { parent_ids: [], stats: { additions: 1 } } })
    expect((await ann.get(`/projects/${project.id}`)).json).toMatchObject({
      default_branch: 'trunk',
      empty_repo: false,
    })
    expect((await ann.post(commitsOf(project.id), commit([create('c')], { branch: 'other' }))).status).toBe(400)
  })

  test('D1-COMMIT-START-PROJECT: starts from a project of the fork network, with its objects', async ({ world }) => {
    const { ann, id, first, git, repository } = await storedFiles(world)
    const [fork, stranger, hidden] = await Promise.all([
      storedProject(world, { visibility: 'private', members: [[ann, 'developer']] }),
      storedProject(world, { visibility: 'public' }),
      storedProject(world, { visibility: 'private' }),
    ])
    await changeProject(world, [fork.id, hidden.id], { forked_from_project_id: id })
    const theirs = fork.repository.commit({ 'theirs.txt': 'theirs\n', big: 'x'.repeat(100_000) })
    const later = fork.repository.commit({ 'theirs.txt': 'more\n' })
    const send = (start_project: number | string, more: object = {}) =>
      ann.post(commitsOf(id), commit([create('x')], { branch: 'new', start_branch: 'main', start_project, ...more }))

    expect(await send(99_999_999)).toMatchObject({ status: 404, json: { message: '404 Project Not Found' } })
    expect(await send(hidden.id)).toMatchObject({ status: 404, json: { message: '404 Project Not Found' } })
    const own = (await ann.get(`/projects/${id}`)).json.name_with_namespace
    expect(await send(stranger.id)).toMatchObject({
      status: 403,
      json: { message: `403 Forbidden - Project is not included in the fork network for ${own}` },
    })
    expect(git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')

    expect((await send(fork.full_path)).json.parent_ids).toEqual([later])
    expect(git('log', '--format=%H', 'new').split('\n').slice(1)).toEqual([later, theirs])
    const bySha = await send(fork.id, { branch: 'sha', start_branch: undefined, start_sha: theirs })
    expect(bySha).toMatchObject({ status: 201, json: { parent_ids: [theirs] } })
    expect((await send(id, { branch: 'same' })).json.parent_ids).toEqual([first])
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
    expect(repository.git('cat-file', '-t', later)).toBe('commit')
  })

  test.for([
    ['anonymous', 'public', 'none', 401, '401 Unauthorized'],
    ['a stranger', 'private', 'none', 404, '404 Project Not Found'],
    ['a stranger', 'public', 'none', 403, '403 Forbidden - You are not allowed to push into this branch'],
    ['a guest', 'private', 'guest', 403, '403 Forbidden - You are not allowed to push into this branch'],
    ['a reporter', 'private', 'reporter', 403, '403 Forbidden - You are not allowed to push into this branch'],
  ] as const)('%s of a %s project (%s): commit is %i', async ([who, visibility, level, status, message], { world }) => {
    const ann = who === 'anonymous' ? world.anonymous : await world.user()
    const project = await storedProject(world, {
      visibility,
      members: level === 'none' ? [] : [[ann as Client, level]],
    })
    const first = project.repository.commit({ a: 'a' })
    for (const path of [
      commitsOf(project.id),
      `${commitsOf(project.id)}/main/cherry_pick`,
      `${commitsOf(project.id)}/main/revert`,
    ])
      expect(await ann.post(path, commit([create('x')]))).toMatchObject({ status, json: { message } })
    expect(project.repository.git('rev-parse', 'main')).toBe(first)
  })

  test('403 for commits to an archived project, and with a token without the scope', async ({ world }) => {
    const { ann, id } = await storedFiles(world)
    const reader = await world.as(ann, ['read_api', 'read_repository'])
    expect((await reader.post(commitsOf(id), commit([create('x')]))).status).toBe(403)
    await world.archive({ id } as never)
    expect((await ann.post(commitsOf(id), commit([create('x')]))).status).toBe(403)
    expect((await world.root.post(commitsOf(id), commit([create('x')]))).status).toBe(403)
  })

  test('32 concurrent commits form one linear history with each acknowledged commit', async ({ world }) => {
    const { ann, id, git } = await storedFiles(world)
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, n) =>
        ann.post(commitsOf(id), commit([create(`f/${n}`)], { commit_message: `${n}` })),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    const history = git('log', '--format=%H %P', 'main').split('\n')
    expect(history).toHaveLength(33)
    expect(history.every((line, index) => line.split(' ').length === (index === 32 ? 1 : 2) || index === 32)).toBe(true)
    expect(new Set(history.map((line) => line.split(' ')[0]))).toEqual(
      new Set([...answers.map(({ json }) => json.id), history.at(-1)!.trim()]),
    )
    expect(git('ls-tree', '--name-only', 'main:f').split('\n')).toHaveLength(32)
  })

  test('D1-FILE-FAIL-TRAVERSAL: hostile paths are refused, or stored as they are', async ({ world }) => {
    const { ann, id, tip, first, git } = await storedFiles(world)
    for (const path of [
      ...hostilePaths,
      'a\u0000b',
      '.git\u200c',
      'GIT~1',
      '.git ',
      '.git.',
      '.git::$INDEX',
      'x\\.git',
      'ok/../../x',
    ]) {
      for (const action of ['update', 'delete', 'chmod']) {
        const body = commit([{ action, file_path: path, content: 'x', execute_filemode: true }])
        if (path === 'a.txt') continue
        expect((await ann.post(commitsOf(id), body)).status, `${action} ${JSON.stringify(path)}`).toBe(400)
      }
      const away = await ann.post(commitsOf(id), commit([{ action: 'move', file_path: 'q', previous_path: path }]))
      expect(away.status, `move ${JSON.stringify(path)}`).toBe(400)
    }
    expect(tip()).toBe(first)
    // A new path is accepted only if git accepts it, and then stored exactly.
    for (const path of hostilePaths) {
      const before = tip()
      const made = await ann.post(commitsOf(id), commit([create(path)]))
      if (made.status === 201) expect(git('diff', '--name-only', '-z', before, 'main')).toBe(`${path}\0`)
      else {
        expect(made.status, JSON.stringify(path)).toBe(400)
        expect(tip()).toBe(before)
      }
    }
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('hostile branches, starts and commits are refused and move no ref', async ({ world }) => {
    const { ann, id, git } = await storedFiles(world)
    const refs = () => git('for-each-ref', '--format=%(refname) %(objectname)')
    const before = refs()
    for (const ref of hostileRefs) {
      const at = JSON.stringify(ref)
      const own = await ann.post(commitsOf(id), commit([create('x')], { branch: ref }))
      expect(own.status, `branch ${at}`).toBe(400)
      const start = await ann.post(commitsOf(id), commit([create('x')], { branch: 'n', start_branch: ref }))
      expect(start.status, `start_branch ${at}`).toBe(400)
      const sha = await ann.post(commitsOf(id), commit([create('x')], { branch: 'n', start_sha: ref }))
      expect(sha.status, `start_sha ${at}`).toBe(400)
      const project = await ann.post(commitsOf(id), commit([create('x')], { branch: 'n', start_project: ref }))
      expect([400, 404], `start_project ${at}`).toContain(project.status)
      for (const verb of ['cherry_pick', 'revert']) {
        const onto = await ann.post(`${commitsOf(id)}/main/${verb}`, { branch: ref })
        expect([400, 404], `${verb} onto ${at}`).toContain(onto.status)
        const of = await ann.post(`${commitsOf(id)}/${encodeURIComponent(ref)}/${verb}`, { branch: 'main' })
        expect([400, 404, 414], `${verb} of ${at}`).toContain(of.status)
      }
    }
    expect(refs()).toBe(before)
  })
})
