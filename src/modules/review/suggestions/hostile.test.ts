import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { crowdSuggestions, misplaceNote } from '../../../../test/tables/discussion.ts'
import { type Client, test } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, pushed } from '../merging/testing.ts'
import { apply, applyAll, block, lastCommit, opened, push, suggest, textOf } from './testing.ts'

const idOf = ({ suggestions }: any): number => suggestions[0].id

describe('lines that move while suggestions are applied', () => {
  test('suggestions applied one after the other replace the lines that they were made for', async ({ world }) => {
    const request = await opened(world, 'x\na\na\na\n')
    const first = await suggest(world.root, request, 1, block('x\ny'))
    const second = await suggest(world.root, request, 2, block('b'))
    expect((await apply(world.root, idOf(first))).status).toBe(200)
    expect((await apply(world.root, idOf(second))).status).toBe(200)
    expect(await textOf(world.root, request.project)).toBe('x\ny\nb\na\na\n')
  })

  test('a suggestion applied after a push that the merge request has not followed replaces the line it was made for', async ({
    world,
  }) => {
    const request = await opened(world, 'a\na\na\n')
    const note = await suggest(world.root, request, 2, block('b'))
    await push(world, request, 'zero\na\na\na\n')
    expect((await apply(world.root, idOf(note))).status).toBe(200)
    expect(await textOf(world.root, request.project)).toBe('zero\na\nb\na\n')
  })

  test('a suggestion that adds a line is applied once if it is applied several times at once', async ({ world }) => {
    const request = await opened(world, 'a\n')
    const note = await suggest(world.root, request, 1, block('a\nnew'))
    const answers = await Promise.all(Array.from({ length: 4 }, () => apply(world.root, idOf(note))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect(await textOf(world.root, request.project)).toBe('a\nnew\n')
  })

  test('a suggestion is refused after its file became a symbolic link, a binary file or was deleted', async ({
    world,
  }) => {
    for (const now of [{ mode: '120000', content: 'a\n' }, Buffer.from([97, 10, 0, 1]), null] as const) {
      const request = await opened(world, 'a\n')
      const note = await suggest(world.root, request, 1, block('b'))
      await push(world, request, now)
      expect((await apply(world.root, idOf(note))).status).toBe(400)
      await afterPush(world, request.project)
      expect((await world.root.get(`${request.at}/notes/${note.id}`)).json.suggestions).toMatchObject([
        { appliable: false },
      ])
    }
  })

  test('older suggestions than the thousand that are followed replace the line they were made for', async ({
    world,
  }) => {
    const request = await opened(world, 'a\na\na\n')
    const oldest = await suggest(world.root, request, 2, block('b'))
    const many = Array.from({ length: 20 }, () => block('c')).join('\n')
    const { id } = await suggest(world.root, request, 3, many)
    await crowdSuggestions(world, id, 1000)
    await push(world, request, 'zero\na\na\na\n')
    await afterPush(world, request.project)
    expect((await apply(world.root, idOf(oldest))).status).toBe(200)
    expect(await textOf(world.root, request.project)).toBe('zero\na\nb\na\n')
  })
})

describe('texts of suggestions', () => {
  test('names of users cannot add trailers to the commit, and it does not show addresses that are not chosen for commits', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user({ name: 'Ann <boss@example.com>\nSigned-off-by: Boss' }), await world.user()]
    const request = await opened(world, 'a\nb\n', {
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
      ] as [Client, Level][],
    })
    const notes = [await suggest(ann, request, 1, block('A')), await suggest(bob, request, 2, block('B'))]
    expect((await applyAll(world.root, notes.map(idOf))).status).toBe(200)
    const { message } = await lastCommit(world.root, request.project)
    expect(message.split('\n').filter((line: string) => line.includes(':'))).toHaveLength(2)
    expect(message).toMatch(/^Co-authored-by: Ann boss@example\.com Signed-off-by: Boss <[^<>]+>$/m)
    expect(message).not.toContain(`${ann.username}@example.com`)
    await afterPush(world, request.project)
    const third = await suggest(ann, { ...request, record: (await world.root.get(request.at)).json }, 1, block('AA'))
    expect((await apply(bob, idOf(third))).status).toBe(200)
    const commit = await lastCommit(world.root, request.project)
    expect(commit.author_email).not.toBe(`${ann.username}@example.com`)
    expect(commit.author_email).toMatch(new RegExp(`^${ann.id}-`))
    expect(commit.committer_email).toBe(`${bob.username}@example.com`)
  })

  test('the author of a suggestion who chose an address for commits is the author of the commit with it', async ({
    world,
  }) => {
    const ann = await world.user()
    await world.root.put(`/users/${ann.id}`, { commit_email: `${ann.username}@example.com` })
    const request = await opened(world, 'a\n', { members: [[ann, 'developer']] as [Client, Level][] })
    expect((await apply(world.root, idOf(await suggest(ann, request, 1, block('A'))))).status).toBe(200)
    expect((await lastCommit(world.root, request.project)).author_email).toBe(`${ann.username}@example.com`)
  })

  test('the name of the user cannot add lines to the message, and NUL and lone surrogates do no harm', async ({
    world,
  }) => {
    const ann = await world.user({ name: 'Ann\n\nReviewed-by: Boss <boss@example.com>' })
    const request = await opened(world, 'a\n', { members: [[ann, 'developer']] as [Client, Level][] })
    const position = { ...request.record.diff_refs, position_type: 'text', new_line: 1, new_path: 'b', old_path: 'b' }
    for (const odd of ['\ud800', '\u0000']) {
      const made = await ann.post(`${request.at}/discussions`, { body: block(`${odd}x`), position })
      expect([201, 400], made.text).toContain(made.status)
    }
    const note = await suggest(ann, request, 1, block('b'))
    const message = 'By %{user_full_name} for %{co_authored_by}%{file_path}\u0000\ud800 now'
    const answer = await apply(ann, idOf(note), { commit_message: message })
    expect([200, 400], answer.text).toContain(answer.status)
    if (answer.status === 400)
      expect((await apply(ann, idOf(note), { commit_message: 'By %{user_full_name}' })).status).toBe(200)
    expect((await lastCommit(ann, request.project)).message.trim().split('\n')).toHaveLength(1)
  })

  test('a message of many placeholders for a long path is cut to the longest that a commit gets', async ({ world }) => {
    const path = Array.from({ length: 4 }, () => 'd'.repeat(250)).join('/')
    const request = await openMergeRequest(world, { files: { [path]: 'a\n' } })
    const note = await suggest(world.root, request, 1, block('b'), path)
    const made = await apply(world.root, idOf(note), {
      commit_message: `Fix:%{file_path}${'%{file_paths}'.repeat(600_000)}`,
    })
    expect(made.status, made.text.slice(0, 300)).toBe(200)
    const { message } = await lastCommit(world.root, request.project)
    expect(message.startsWith(`Fix:${path}${path}`)).toBe(true)
    expect(message.trim().length).toBe(100_000)
  })

  test('a reply to an imported note at line 0 of an unknown head is stored without suggestions', async ({ world }) => {
    const request = await opened(world, 'a\n')
    for (const odd of [{ new_line: 0 }, { new_line: 2 ** 31 - 1 }, { head_sha: '1'.repeat(40) }]) {
      const note = await suggest(world.root, request, 1, 'Hm')
      await misplaceNote(world, note.id, odd)
      const reply = await world.root.post(`${request.at}/discussions/${note.discussion}/notes`, { body: block('b') })
      expect([reply.status, reply.json.suggestions]).toEqual([201, []])
    }
  })

  test('a short note cannot store copies of a large file', async ({ world }) => {
    const large = `${'x'.repeat(900_000)}\n1\n2\n3\n4\n5\n`
    const project = await storedProject(world)
    project.repository.commit({ b: large })
    const request = await opened(world, `${large}b\n`, { project })
    const note = await suggest(world.root, request, 7, Array.from({ length: 20 }, () => block('y', ':-6+0')).join('\n'))
    expect(JSON.stringify(note.suggestions).length).toBeLessThan(1_000_000)
    const ordinary = await suggest(world.root, request, 7, block('y'))
    expect((await apply(world.root, idOf(ordinary))).status).toBe(200)
  })
})

describe('rights to apply suggestions', () => {
  test('a fork takes suggestions from members of the target only while its merge request allows collaboration', async ({
    world,
  }) => {
    const [ann, dev, guest, stranger] = await Promise.all(Array.from({ length: 4 }, () => world.user()))
    const project = await storedProject(world, {
      visibility: 'public',
      members: [
        [dev!, 'developer'],
        [guest!, 'guest'],
      ],
    })
    project.repository.commit({ a: 'a\n' })
    const source = await forkOf(world, project, ann!)
    const request = await opened(world, 'a\nb\n', { project, source, author: ann! })
    const first = await suggest(dev!, request, 1, block('A'))
    const second = await suggest(stranger!, request, 2, block('B'))
    for (const who of [dev!, guest!, stranger!]) expect((await apply(who, idOf(first))).status).toBe(403)
    await ann!.put(request.at, { allow_collaboration: true })
    for (const who of [guest!, stranger!]) expect((await apply(who, idOf(first))).status).toBe(403)
    expect((await apply(dev!, idOf(first))).status).toBe(200)
    await ann!.put(request.at, { allow_collaboration: false })
    expect((await apply(dev!, idOf(second))).status).toBe(403)
    await ann!.put(`/projects/${source.id}`, { visibility: 'private' })
    expect((await apply(dev!, idOf(second))).status).toBe(403)
    expect((await world.anonymous.put(`/suggestions/${idOf(second)}/apply`)).status).toBe(401)
    expect((await applyAll(world.anonymous, [idOf(second)])).status).toBe(401)
    expect(await textOf(ann!, source)).toBe('A\nb\n')
  })

  test('nothing is applied to an archived project, a deleted branch or by a member who left', async ({ world }) => {
    const dev = await world.user()
    const request = await opened(world, 'a\nb\n', {
      visibility: 'private',
      members: [[dev, 'developer']] as [Client, Level][],
    })
    const id = idOf(await suggest(dev, request, 1, block('A')))
    await world.root.delete(`/projects/${request.project.id}/members/${dev.id}`)
    expect((await apply(dev, id)).status).toBe(404)
    expect((await applyAll(dev, [id])).status).toBe(404)
    await world.root.post(`/projects/${request.project.id}/archive`)
    expect((await apply(world.root, id)).status).toBe(403)
    expect((await applyAll(world.root, [id])).status).toBe(403)
    await world.root.post(`/projects/${request.project.id}/unarchive`)
    const { project, head } = request
    await pushed(await contextFor(world, world.root), project, 'topic', head, null)
    expect((await apply(world.root, id)).status).toBe(400)
    expect((await world.root.get(`/projects/${project.id}/repository/branches/topic`)).status).toBe(404)
  })

  test('lists of ids are bounded, and repeated ids count once', async ({ world }) => {
    const request = await opened(world, 'a\nb\n')
    const id = idOf(await suggest(world.root, request, 1, block('A')))
    expect(
      (
        await applyAll(
          world.root,
          Array.from({ length: 10_000 }, (_, n) => n),
        )
      ).status,
    ).toBe(400)
    for (const ids of [[-1], [0], ['x'], [2 ** 53], [1.5], null, [[1]], 'all'])
      expect((await applyAll(world.root, ids)).status, JSON.stringify(ids)).toSatisfy(
        (status) => status === 400 || status === 404,
      )
    const answer = await applyAll(
      world.root,
      Array.from({ length: 50 }, () => id),
    )
    expect(answer.json).toMatchObject([{ id, applied: true }])
    expect(await textOf(world.root, request.project)).toBe('A\nb\n')
  })
})
