import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { gitIn } from '../../../git/testing.ts'
import { storedProject } from './testing.ts'

const enc = encodeURIComponent

describe('GET /projects/:id/repository/commits/:sha', () => {
  test('D1-COMMIT-SHA-NAME D1-COMMIT-DETAIL D1-COMMIT-STATS-DEFAULT: a commit by hash, branch, tag', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: '1\n' })
    const sha = project.repository.commit(
      { a: '1\n2\n' },
      {
        branch: 'feature/x',
        parents: [first],
        message: 'Title\n\nBody\n',
        author: 'Änn <ann@example.com>',
        seconds: 1_393_488_896,
      },
    )
    project.repository.git('tag', '-a', '-m', 'tag', 'v1', sha)
    const expected = {
      id: sha,
      short_id: sha.slice(0, 8),
      created_at: '2014-02-27T08:14:56.000+00:00',
      parent_ids: [first],
      title: 'Title',
      message: 'Title\n\nBody\n',
      author_name: 'Änn',
      author_email: 'ann@example.com',
      authored_date: '2014-02-27T09:14:56.000+01:00',
      committer_name: 'Cid',
      committer_email: 'cid@example.com',
      committed_date: '2014-02-27T08:14:56.000+00:00',
      web_url: expect.stringContaining(`/${project.full_path}/-/commit/${sha}`),
      stats: { additions: 1, deletions: 0, total: 1 },
      project_id: project.id,
      status: null,
      last_pipeline: null,
    }
    for (const name of [sha, sha.slice(0, 7), sha.toUpperCase(), 'feature/x', 'v1', 'refs/heads/feature/x'])
      expect(await world.anonymous.get(`/projects/${project.id}/repository/commits/${enc(name)}`), name).toMatchObject({
        status: 200,
        json: expected,
      })
    expect(
      (await world.root.get(`/projects/${project.id}/repository/commits/${sha}?stats=false`)).json,
    ).not.toHaveProperty('stats')
    expect(await world.root.get(`/projects/${project.id}/repository/commits/nope`)).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
  })

  test('D1-COMMIT-DATES-ABSENT: complete commits have their dates in every response', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const first = repository.commit({ a: '1' })
    const second = repository.commit({ b: '2' })
    repository.git('branch', 'stable', first)
    repository.git('tag', 'v1', first)
    const at = `/projects/${project.id}/repository`
    const get = async (path: string) => (await world.root.get(`${at}/${path}`)).json
    const post = async (path: string, body: object) => (await world.root.post(`${at}/${path}`, body)).json
    const compared = await get(`compare?from=${first}&to=${second}`)
    const answers = {
      list: (await get('commits'))[0],
      one: await get(`commits/${second}`),
      made: await post('commits', {
        branch: 'main',
        commit_message: 'x',
        actions: [{ action: 'create', file_path: 'c', content: 'c' }],
      }),
      picked: await post(`commits/${second}/cherry_pick`, { branch: 'stable' }),
      reverted: await post(`commits/${second}/revert`, { branch: 'main' }),
      base: await get(`merge_base?refs[]=${first}&refs[]=${second}`),
      branch: (await get('branches/main')).commit,
      tag: (await get('tags/v1')).commit,
      compared: compared.commit,
      between: compared.commits[0],
    }
    for (const [name, commit] of Object.entries(answers))
      expect(commit, name).toMatchObject({
        authored_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        committed_date: commit.created_at,
      })
  })

  test('a commit that only claims to be in UTF-16 is read, and its branch can be written', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1\n' })
    const tree = repository.git('rev-parse', `${repository.commit({ a: '1\n2\n' }, { branch: 'other' })}^{tree}`)
    const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'i18n.commitEncoding=UTF-16']
    const sha = repository.git(...identity, 'commit-tree', '-p', first, '-m', 'Wörds', tree)
    repository.git('update-ref', 'refs/heads/main', sha)
    const at = `/projects/${id}/repository`
    const shown = { id: sha, parent_ids: [first], title: 'Wörds', author_name: 'Ann', stats: { additions: 1 } }
    expect((await world.root.get(`${at}/commits/${sha}`)).json).toMatchObject(shown)
    expect((await world.root.get(`${at}/commits?with_stats=true`)).json).toMatchObject([shown, { id: first }])
    expect((await world.root.get(`${at}/compare?from=${first}&to=main`)).json).toMatchObject({
      commits: [{ id: sha }],
      diffs: [{ new_path: 'a' }],
    })
    const actions = [{ action: 'update', file_path: 'a', content: '3\n' }]
    expect(await world.root.post(`${at}/commits`, { branch: 'main', commit_message: 'Next', actions })).toMatchObject({
      status: 201,
      json: { parent_ids: [sha] },
    })
  })

  test('a commit in any encoding is shown as text, and one without a message has a title', async ({ world }) => {
    const project = await storedProject(world)
    const { repository } = project
    const tree = gitIn(repository.gitDir, ['mktree'])
    const stored = async (author: string, message: string, header = '') => {
      const text = `tree ${tree}\nauthor ${author} <a@b> 1700000000 -0330\ncommitter C <c@d> 1700000000 +0000\n${header}\n${message}`
      const sha = gitIn(
        repository.gitDir,
        ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'],
        Buffer.from(text, 'latin1'),
      )
      return (await world.root.get(`/projects/${project.id}/repository/commits/${sha}`)).json
    }
    expect(await stored('J\xfcrgen', 'Gr\xfc\xdfe aus K\xf6ln')).toMatchObject({
      author_name: 'Jürgen',
      title: 'Grüße aus Köln',
      authored_date: '2023-11-14T18:43:20.000-03:30',
    })
    expect(await stored('A', '\xc8\xd2', 'encoding windows-1251\n')).toMatchObject({ title: 'ИТ' })
    expect(await stored('A', Buffer.from('日本').toString('latin1'))).toMatchObject({ title: '日本' })
    expect(await stored('A', 'a\x00b \xff\xfe\x01')).toMatchObject({ title: 'ab \u0001' })
    expect(await stored('A', '')).toMatchObject({ title: '--no commit message', message: '' })
    expect(await stored('A', 'one\r\ntwo')).toMatchObject({ title: 'one', message: 'one\r\ntwo' })
  })
})
