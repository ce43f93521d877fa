import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush } from '../merging/testing.ts'
import { applyBatch } from './service.ts'
import { apply, applyAll, block, lastCommit, opened, push, suggest, textOf } from './testing.ts'

const content = 'one\ntwo\nthree\nfour\nfive\n'
const openedWithLines = (world: World, more: object = {}) => opened(world, content, more)

/** A merge request with two developers. */
async function openedForTwo(world: World) {
  const [ann, bob] = [await world.user(), await world.user()]
  const members = [ann, bob].map((who): [Client, Level] => [who, 'developer'])
  return { ann, bob, request: await openedWithLines(world, { members }) }
}

/** The same context, and counts what it reads from the database. */
function countingReads(ctx: Ctx): { ctx: Ctx; counts: { reads: number } } {
  const counts = { reads: 0 }
  const counted = <T extends object>(reader: T): T =>
    new Proxy(reader, {
      get(target, name) {
        const value: any = Reflect.get(target, name)
        if (name === 'snapshotCache') return counted(value)
        if (name === 'rows' || name === 'row') counts.reads++
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return { ctx: { ...ctx, db: counted(ctx.db) }, counts }
}

/** Pushes a commit with this content of the file to the source branch, and waits until the merge request has followed it. */
async function pushAndFollow(world: World, request: OpenedMergeRequest, text: string): Promise<void> {
  await push(world, request, text)
  await afterPush(world, request.project)
}

describe('suggestions of a note', () => {
  test('are in the record of the note and of its discussion, and change with its text', async ({ world }) => {
    const request = await openedWithLines(world)
    const body = `Better:\n\n${block('ZWEI\nDREI', ':-1+0')}\n\nor\n\n~~~~suggestion\n~~~~\n`
    const note = await suggest(world.root, request, 2, body)
    expect(note.suggestions).toEqual([
      {
        ...{ id: expect.any(Number), from_line: 1, to_line: 2, appliable: true, applied: false },
        ...{ from_content: 'one\ntwo\n', to_content: 'ZWEI\nDREI\n' },
      },
      {
        ...{ id: expect.any(Number), from_line: 2, to_line: 2, appliable: true, applied: false },
        ...{ from_content: 'two\n', to_content: '' },
      },
    ])
    const at = `${request.at}/notes/${note.id}`
    expect((await world.root.get(at)).json.suggestions).toEqual(note.suggestions)
    await world.root.put(at, { body: `Shorter. ${body}` })
    expect((await world.root.get(at)).json.suggestions).toEqual(note.suggestions)
    const reply = await world.root.post(`${request.at}/discussions/${note.discussion}/notes`, { body: block('2') })
    expect(reply.json.suggestions).toMatchObject([{ from_line: 2, to_line: 2, to_content: '2\n' }])
    await world.root.put(at, { body: 'Never mind' })
    expect((await world.root.get(at)).json.suggestions).toEqual([])
    const other = `${request.at}/notes/${reply.json.id}`
    expect((await world.root.get(other)).json.suggestions).toEqual(reply.json.suggestions)
    const general = await world.root.post(`${request.at}/notes`, { body })
    expect(general.json).not.toHaveProperty('suggestions')
  })

  test.for([
    ['is within the file at its ends', 5, block('x', ':-9+9'), [[1, 5]]],
    ['takes no more than 100 lines above', 5, block('x', `:-${'9'.repeat(9)}+0`), [[1, 5]]],
    [
      'is none in a quote, a list, other code or an open fence',
      1,
      `> ${block('x')}\n- ${block('x')}\n\`\`\`\nsuggestion`,
      [],
    ],
    ['is none with other words', 1, block('x', ' please'), []],
  ] as const)('a suggestion %s', async ([, line, body, lines], { world }) => {
    const { suggestions } = await suggest(world.root, await openedWithLines(world), line, body)
    expect(suggestions.map((each: any) => [each.from_line, each.to_line])).toEqual(lines)
  })

  test('are followed to new heads: lines above move them, changes of their lines make them outdated', async ({
    world,
  }) => {
    const request = await openedWithLines(world)
    const { id, suggestions } = await suggest(world.root, request, 3, block('DREI'))
    const now = async () => (await world.root.get(`${request.at}/notes/${id}`)).json.suggestions[0]
    await pushAndFollow(world, request, `zero\n${content}`)
    expect(await now()).toMatchObject({ from_line: 4, to_line: 4, appliable: true })
    await pushAndFollow(world, request, content.replace('three', '3'))
    expect(await now()).toMatchObject({ from_line: 3, appliable: false })
    expect(await apply(world.root, suggestions[0].id)).toMatchObject({ status: 400 })
    await pushAndFollow(world, request, content.replace('one', 'eins\nuno'))
    expect(await now()).toMatchObject({ from_line: 4, appliable: true })
    expect((await apply(world.root, suggestions[0].id)).json).toMatchObject({ applied: true, appliable: false })
    expect(await textOf(world.root, request.project)).toBe('eins\nuno\ntwo\nDREI\nfour\nfive\n')
  })

  test('a note that two requests edit at once has the suggestions of its text', async ({ world }) => {
    const request = await opened(world, 'a\n')
    const note = await suggest(world.root, request, 1, 'Hm')
    const at = `${request.at}/notes/${note.id}`
    const edits = await world.db.transaction(async (tx) => {
      await touchMergeRequest(tx, request.record.id)
      const sent = ['b', 'c'].map((text) => world.root.put(at, { body: block(text) }))
      await world.waitsForLock(2)
      return sent
    })
    for (const edit of edits) expect((await edit).status).toBe(200)
    const { body, suggestions } = (await world.root.get(at)).json
    expect(suggestions.map(({ to_content }: { to_content: string }) => block(to_content.trim()))).toEqual([body])
  })
})

describe('PUT /suggestions/:id/apply', () => {
  test('commits the lines for the author of the note, resolves the discussion, and works once', async ({ world }) => {
    const { ann, bob, request } = await openedForTwo(world)
    const note = await suggest(ann, request, 2, block('ZWEI'))
    const [suggestion] = note.suggestions
    expect(await apply(bob, suggestion.id)).toMatchObject({
      status: 200,
      json: { ...suggestion, applied: true, appliable: false },
    })
    expect(await textOf(bob, request.project)).toBe('one\nZWEI\nthree\nfour\nfive\n')
    expect(await lastCommit(bob, request.project)).toMatchObject({
      title: 'Apply 1 suggestion(s) to 1 file(s)',
      author_name: `Name of ${ann.username}`,
      committer_name: `Name of ${bob.username}`,
    })
    const { json } = await bob.get(`${request.at}/discussions/${note.discussion}`)
    expect(json.notes[0]).toMatchObject({ resolved: true, resolved_by: { username: bob.username } })
    expect(json.notes[0].suggestions).toMatchObject([{ applied: true }])
    expect((await apply(bob, suggestion.id)).status).toBe(400)
  })

  test('takes the message of the request or of the project, with its placeholders', async ({ world }) => {
    const request = await openedWithLines(world)
    const first = await suggest(world.root, request, 1, block('EINS'))
    const second = await suggest(world.root, request, 5, block('FUENF'))
    await world.root.put(`/projects/${request.project.id}`, {
      suggestion_commit_message: '%{username} changed %{file_path} on %{branch_name} (%{suggestions_count}) %{other}',
    })
    await apply(world.root, first.suggestions[0].id)
    expect((await lastCommit(world.root, request.project)).title).toBe('root changed b on topic (1) %{other}')
    await apply(world.root, second.suggestions[0].id, { commit_message: 'Mine in %{project_path}' })
    expect((await lastCommit(world.root, request.project)).title).toBe(`Mine in ${request.project.full_path}`)
    expect(await textOf(world.root, request.project)).toBe('EINS\ntwo\nthree\nfour\nFUENF\n')
  })

  test('needs the right to push to the source branch at that time, and obeys push rules', async ({ world }) => {
    const [dev, reporter, stranger] = [await world.user(), await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [dev, 'developer'],
      [reporter, 'reporter'],
    ]
    const request = await openedWithLines(world, { visibility: 'private', members })
    const { suggestions } = await suggest(reporter, request, 2, block('ZWEI'))
    const [{ id }] = suggestions
    expect((await apply(stranger, id)).status).toBe(404)
    expect((await stranger.put('/suggestions/batch_apply', { ids: [id] })).status).toBe(404)
    expect((await apply(reporter, id)).status).toBe(403)
    const at = `/projects/${request.project.id}`
    await world.root.post(`${at}/protected_branches`, { name: 'topic', push_access_level: 40 })
    expect((await apply(dev, id)).status).toBe(403)
    await world.root.delete(`${at}/protected_branches/topic`)
    await world.root.post(`${at}/push_rule`, { commit_message_regex: '^JIRA-' })
    expect((await apply(dev, id)).status).toBe(400)
    expect(await textOf(dev, request.project)).toBe(content)
    expect((await apply(dev, id, { commit_message: 'JIRA-1 %{file_path}' })).status).toBe(200)
  })

  test('commits in the fork that has the branch, and not for a closed merge request', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const source = await forkOf(world, project, ann)
    const request = await openedWithLines(world, { project, source, author: ann })
    const { suggestions } = await suggest(world.root, request, 2, block('ZWEI'))
    await world.root.put(request.at, { state_event: 'close' })
    expect((await apply(ann, suggestions[0].id)).status).toBe(400)
    await world.root.put(request.at, { state_event: 'reopen' })
    expect((await apply(ann, suggestions[0].id)).status).toBe(200)
    expect(await textOf(ann, source)).toContain('ZWEI')
  })

  test('leaves other bytes of the file as they are', async ({ world }) => {
    const files = { b: Buffer.from('caf\xe9\r\nzwei\r\ndrei', 'latin1') }
    const request = await openMergeRequest(world, { files })
    const first = await suggest(world.root, request, 2, block('ZWEI\n2'))
    const last = await suggest(world.root, request, 3, block('DREI'))
    expect((await apply(world.root, first.suggestions[0].id)).status).toBe(200)
    await afterPush(world, request.project)
    expect((await apply(world.root, last.suggestions[0].id)).status).toBe(200)
    const { content: stored } = (await world.root.get(`/projects/${request.project.id}/repository/files/b?ref=topic`))
      .json
    expect(Buffer.from(stored, 'base64').toString('latin1')).toBe('caf\xe9\r\nZWEI\r\n2\r\nDREI')
  })
})

describe('PUT /suggestions/batch_apply', () => {
  test('applies several suggestions as one commit, or none', async ({ world }) => {
    const { ann, bob, request } = await openedForTwo(world)
    const before = (await lastCommit(ann, request.project)).id
    const notes = [
      await suggest(ann, request, 1, block('EINS\nUNO')),
      await suggest(bob, request, 4, block('VIER')),
      await suggest(bob, request, 4, block('QUATTRO', ':-1+0')),
    ]
    const [first, second, overlapping] = notes.map(({ suggestions }) => suggestions[0].id)
    const batch = (ids: unknown) => world.root.put('/suggestions/batch_apply', { ids })
    expect(await batch([first, second, overlapping])).toMatchObject({ status: 400 })
    expect(await batch([first, second, 999_999_999])).toMatchObject({ status: 404 })
    expect((await batch([])).status).toBe(400)
    expect(await batch([second, first])).toMatchObject({
      status: 200,
      json: [
        { id: first, applied: true },
        { id: second, applied: true },
      ],
    })
    expect(await textOf(ann, request.project)).toBe('EINS\nUNO\ntwo\nthree\nVIER\nfive\n')
    const commit = await lastCommit(ann, request.project)
    expect(commit).toMatchObject({ parent_ids: [before], author_name: 'Administrator' })
    expect(commit.message).toContain(`Co-authored-by: Name of ${ann.username} <`)
    const other = await openedWithLines(world, {
      project: request.project,
      branch: 'other',
      files: { b: content, c: 'c\n' },
    })
    const elsewhere = await suggest(bob, other, 1, block('x'))
    expect((await batch([elsewhere.suggestions[0].id, overlapping])).status).toBe(400)
  })

  test('404 for suggestions of several merge requests of which the caller may not read one, otherwise 400', async ({
    world,
  }) => {
    const ann = await world.user()
    const shown = [await openedWithLines(world), await openedWithLines(world)]
    const hidden = await openedWithLines(world, { visibility: 'private' })
    const ids = await Promise.all(
      [...shown, hidden].map(async (request) => (await suggest(world.root, request, 1, block('x'))).suggestions[0].id),
    )
    expect(await applyAll(ann, ids.slice(0, 2))).toMatchObject({ status: 400 })
    expect(await applyAll(ann, ids)).toMatchObject({ status: 404 })
    expect(await applyAll(world.root, ids)).toMatchObject({ status: 400 })
  })

  test('suggestions of eight merge requests are loaded with as many statements as those of two', async ({ world }) => {
    const ids: number[] = []
    const statements = async () => {
      const { ctx, counts } = countingReads(await contextFor(world, world.root))
      await expect(applyBatch(ctx, ids, undefined)).rejects.toThrow('on the same branch')
      return counts.reads
    }
    const openUntil = async (last: number) => {
      while (ids.length < last)
        ids.push((await suggest(world.root, await openedWithLines(world), 1, block('x'))).suggestions[0].id)
    }
    await openUntil(2)
    const few = await statements()
    await openUntil(8)
    expect([few > 0, await statements()]).toEqual([true, few])
  })
})
