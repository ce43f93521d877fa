import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { craft, entriesOf, exportOf, importOf } from '../testing.ts'

const [single, thread, line] = ['1', '2', '3'].map((digit) => digit.repeat(40))

test('comments of commits in an older archive are imported with their discussions and lines', async ({ world }) => {
  const project = await storedProject(world)
  const first = project.repository.commit({ a: 'a\n' })
  const second = project.repository.commit({ a: 'b\n' })
  const times = { created_at: '2026-01-02T03:04:05.678Z', updated_at: '2026-01-02T03:04:05.678Z' }
  const comment = (commit: string, discussion_id: string | undefined, note: string, more = {}) =>
    `${JSON.stringify({ commit, author: 'root', note, discussion_id, ...more, ...times })}\n`
  const entries = await entriesOf(await exportOf(world, project.id))
  const comments = [
    comment(second, single, 'Single'),
    comment(first, thread, 'Asked', { threaded: true }),
    comment(second, line, 'On a line', { path: 'a', line: 1, line_type: 'new' }),
    comment(first, thread, 'Answered', { threaded: true }),
  ]
  entries.set('tree/project/commit_comments.ndjson', Buffer.from(comments.join('')))
  const archive = await craft([...entries].map(([name, content]) => ({ name, content })))
  const { id, import_status } = await importOf(world, archive)
  expect(import_status).toBe('finished')
  const at = (commit: string) => `/projects/${id}/repository/commits/${commit}`
  const unattached = { path: null, line: null, line_type: null }
  const listed = (await world.root.get(`${at(second)}/comments`)).json
  expect(listed).toMatchObject([
    { note: expect.stringContaining('Single'), ...unattached },
    { note: expect.stringContaining('On a line'), path: 'a', line: 1, line_type: 'new' },
  ])
  const [discussion] = (await world.root.get(`${at(first)}/discussions`)).json
  const noted = (body: string) => ({ body: expect.stringContaining(body), type: 'DiscussionNote', commit_id: first })
  expect(discussion).toMatchObject({ id: thread, notes: [noted('Asked'), noted('Answered')] })
})

test('an older archive with a comment of something that is no commit is refused', async ({ world }) => {
  const project = await storedProject(world)
  for (const commit of ['main', null, 7, { toString: 'x' }]) {
    const entries = await entriesOf(await exportOf(world, project.id))
    const record = { commit, author: 'root', note: 'x', discussion_id: single, created_at: '2026-01-02T03:04:05.678Z' }
    entries.set('tree/project/commit_comments.ndjson', Buffer.from(`${JSON.stringify(record)}\n`))
    const archive = await craft([...entries].map(([name, content]) => ({ name, content })))
    const { import_status } = await importOf(world, archive)
    expect(import_status, JSON.stringify(commit)).toBe('failed')
  }
})
