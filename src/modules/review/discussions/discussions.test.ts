import { describe, expect } from 'vitest'
import { expectSameCost } from '../../../../test/growth.ts'
import { addLongReplies } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const refused = (field: string, text: string) => ({
  status: 400,
  json: { message: `400 (Bad request) "Note {:${field}=>["${text}"]}" not given` },
})

/** A public merge request that replaces the fifth of ten lines, removes the ninth and adds an image. */
async function discussed(world: World, author?: Client) {
  const developer = await world.user()
  const project = await storedProject(world, {
    members: [[developer, 'developer'], ...(author ? [[author, 'developer'] as [Client, 'developer']] : [])],
  })
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`)
  project.repository.commit({ 'a.txt': lines.join('') })
  lines[4] = 'changed\n'
  lines.splice(8, 1)
  const files = { 'a.txt': lines.join(''), 'b.png': Buffer.from([0, 1, 2]) }
  const opened = await openMergeRequest(world, { project, files, ...(author && { author }) })
  const { diff_refs } = opened.record
  const place = { ...diff_refs, position_type: 'text', new_path: 'a.txt' }
  return { ...opened, developer, discussions: `${opened.at}/discussions`, place }
}

const bodies = ({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body)

describe('discussions of a merge request', () => {
  test('discussions of a merge request are started, answered and read, singly and in pages', async ({ world }) => {
    const { discussions, at, id } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const started = await ann.post(discussions, { body: 'Why?' })
    expect(started).toMatchObject({
      status: 201,
      json: {
        id: expect.stringMatching(/^[0-9a-f]{40}$/),
        individual_note: false,
        notes: [
          {
            type: 'DiscussionNote',
            body: 'Why?',
            author: { id: ann.id },
            noteable_id: id,
            noteable_type: 'MergeRequest',
            resolvable: true,
            resolved: false,
            resolved_by: null,
          },
        ],
      },
    })
    const one = `${discussions}/${started.json.id}`
    const answered = await bob.post(`${one}/notes`, { body: 'Because' })
    expect(answered).toMatchObject({ status: 201, json: { type: 'DiscussionNote', author: { id: bob.id } } })
    expect(bodies((await ann.get(one)).json)).toEqual(['Why?', 'Because'])
    expect((await ann.get(`${one}/notes`)).json).toMatchObject([{ body: 'Why?' }, answered.json])
    expect((await ann.get(`${one}/notes/${answered.json.id}`)).json).toEqual(answered.json)
    await ann.post(discussions, { body: 'Another' })
    const list = await ann.get(`${discussions}?per_page=1&page=2`)
    expect(list.json.map(bodies)).toEqual([['Another']])
    expect(list.headers['x-total']).toBe('2')
    // All of them are listed as notes, too.
    expect(bodies({ notes: (await ann.get(`${at}/notes?sort=asc`)).json })).toEqual(['Why?', 'Because', 'Another'])
  })

  test('a single note becomes a discussion when it is answered', async ({ world }) => {
    const { discussions, at } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const single = (await ann.post(`${at}/notes`, { body: 'Hm' })).json
    const [before] = (await ann.get(discussions)).json
    expect(before).toMatchObject({ individual_note: true, notes: [{ id: single.id, type: null, resolvable: false }] })
    const answered = await bob.post(`${discussions}/${before.id}/notes`, { body: 'What?' })
    expect(answered).toMatchObject({ status: 201, json: { type: 'DiscussionNote', resolvable: true } })
    expect((await ann.get(`${discussions}/${before.id}`)).json).toMatchObject({
      individual_note: false,
      notes: [{ id: single.id, type: 'DiscussionNote', resolvable: true, resolved: false }, answered.json],
    })
  })

  test('400 for answering or resolving a system note', async ({ world }) => {
    const { discussions, at } = await discussed(world)
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    const [systemNote] = (await world.root.get(discussions)).json
    expect(systemNote).toMatchObject({ individual_note: true, notes: [{ system: true }] })
    for (const body of ['x', '/close', 'x\n/close'])
      expect(await world.root.post(`${discussions}/${systemNote.id}/notes`, { body })).toMatchObject({
        status: 400,
        json: { message: 'Discussion is an individual note.' },
      })
    expect((await world.root.get(at)).json.state).toBe('opened')
    expect(await world.root.put(`${discussions}/${systemNote.id}`, { resolved: true })).toMatchObject({
      status: 400,
      json: { message: 'Discussion cannot be resolved.' },
    })
  })

  test('404 for answering, reading or resolving a discussion of another merge request', async ({ world }) => {
    const { discussions, project } = await discussed(world)
    const other = await openMergeRequest(world, { project, branch: 'other' })
    const { id } = (await world.root.post(`${other.at}/discussions`, { body: 'x' })).json
    const missing = { status: 404, json: { message: '404 Discussion Not Found' } }
    for (const name of [id, 'none', '0'.repeat(40)]) {
      expect(await world.root.post(`${discussions}/${name}/notes`, { body: 'x' })).toMatchObject(missing)
      expect(await world.root.get(`${discussions}/${name}`)).toMatchObject(missing)
      expect(await world.root.get(`${discussions}/${name}/notes`)).toMatchObject(missing)
      expect(await world.root.put(`${discussions}/${name}`, { resolved: true })).toMatchObject(missing)
    }
    const { notes } = (await world.root.get(`${other.at}/discussions/${id}`)).json
    for (const path of [`${discussions}/${id}`, `${other.at}/discussions/${'0'.repeat(40)}`])
      expect((await world.root.get(`${path}/notes/${notes[0].id}`)).status).toBe(404)
  })

  test('deleting the last note of a discussion deletes it', async ({ world }) => {
    const { discussions } = await discussed(world)
    const ann = await world.user()
    const { id, notes } = (await ann.post(discussions, { body: 'x' })).json
    const answered = (await ann.post(`${discussions}/${id}/notes`, { body: 'y' })).json
    const note = (of: { id: number }) => `${discussions}/${id}/notes/${of.id}`
    const stranger = await world.user()
    expect((await stranger.delete(note(notes[0]))).status).toBe(403)
    expect((await ann.delete(note(notes[0]))).status).toBe(204)
    expect(bodies((await ann.get(`${discussions}/${id}`)).json)).toEqual(['y'])
    expect((await ann.delete(note(answered))).status).toBe(204)
    expect((await ann.get(`${discussions}/${id}`)).status).toBe(404)
    expect((await ann.get(discussions)).json).toEqual([])
  })

  test('400 for a reply or an edit that makes a discussion longer than its record may be', async ({ world }) => {
    const { discussions } = await discussed(world)
    const { id } = (await world.root.post(discussions, { body: 'Why?' })).json
    const reply = (body: string) => world.root.post(`${discussions}/${id}/notes`, { body })
    for (let count = 0; count < 3; count++) expect((await reply('x'.repeat(1_000_000))).status).toBe(201)
    expect(await reply('x'.repeat(1_000_000))).toMatchObject(refused('discussion', 'is too long; begin another one'))
    const note = (await reply('Short')).json
    const edit = (body: string) => world.root.put(`${discussions}/${id}/notes/${note.id}`, { body })
    expect(await edit('x'.repeat(1_000_000))).toMatchObject(refused('discussion', 'is too long; begin another one'))
    expect((await edit('Shorter')).status).toBe(200)
    expect(bodies((await world.root.get(`${discussions}/${id}`)).json).at(-1)).toBe('Shorter')
    expect((await world.root.post(discussions, { body: 'x'.repeat(1_000_000) })).status).toBe(201)
  })

  test('400 for an edit that makes a discussion too long by characters of more bytes', async ({ world }) => {
    const { discussions } = await discussed(world)
    const { id, notes } = (await world.root.post(discussions, { body: 'x'.repeat(1_000_000) })).json
    await addLongReplies(world, id, 2)
    const edit = (body: string) => world.root.put(`${discussions}/${id}/notes/${notes[0].id}`, { body })
    expect(await edit('€'.repeat(1_000_000))).toMatchObject(refused('discussion', 'is too long; begin another one'))
    expect((await edit('y'.repeat(1_000_000))).status).toBe(200)
  })

  test('the record of a stored discussion that is too long has its first notes, and the list of its notes has all', async ({
    world,
  }) => {
    const { discussions } = await discussed(world)
    const { id } = (await world.root.post(discussions, { body: 'Why?' })).json
    await addLongReplies(world, id, 7)
    const one = `${discussions}/${id}`
    expect((await world.root.get(one)).json.notes).toHaveLength(5)
    expect((await world.root.get(discussions)).json[0].notes).toHaveLength(5)
    expect((await world.root.get(`${one}/notes`)).json).toHaveLength(8)
    const last = (await world.root.get(`${one}/notes`)).json.at(-1).id
    expect((await world.root.put(`${one}/notes/${last}`, { body: 'Shorter' })).status).toBe(200)
  })

  test('413 for a page of long discussions, of their notes, or of found ones; a lower per_page reads all', async ({
    world,
  }) => {
    const { discussions, at, project } = await discussed(world)
    const ids: string[] = []
    for (let count = 0; count < 14; count++) {
      const { id } = (await world.root.post(discussions, { body: 'Why?' })).json
      await addLongReplies(world, id, 3)
      ids.push(id)
    }
    const tooLarge = {
      status: 413,
      json: { message: '413 The records are too large for one list: use a lower per_page' },
    }
    expect(await world.root.get(discussions)).toMatchObject(tooLarge)
    const first = await world.root.get(`${discussions}?per_page=8`)
    const second = await world.root.get(`${discussions}?per_page=8&page=2`)
    expect([...first.json, ...second.json].map(({ id }) => id)).toEqual(ids)
    expect(first.json[7].notes).toHaveLength(4)

    expect(await world.root.get(`${at}/notes?per_page=100`)).toMatchObject(tooLarge)
    expect(await world.root.get(`${at}/notes?per_page=100&sort=asc&order_by=updated_at`)).toMatchObject(tooLarge)
    expect((await world.root.get(`${at}/notes`)).json).toHaveLength(20)

    const found = `/projects/${project.id}/search?scope=notes&search=text`
    expect(await world.root.get(`${found}&per_page=100`)).toMatchObject(tooLarge)
    expect((await world.root.get(`${found}&per_page=10`)).json).toHaveLength(10)

    await addLongReplies(world, ids[0]!, 8)
    const long = `${discussions}/${ids[0]}/notes`
    expect(await world.root.get(`${long}?per_page=100`)).toMatchObject(tooLarge)
    expect((await world.root.get(`${long}?per_page=2&pagination=keyset&sort=asc`)).json).toHaveLength(2)
  })

  test('a reply to a long discussion, and a page of its notes, cost what they cost in a short one', async ({
    world,
  }) => {
    const { discussions } = await discussed(world)
    const [short, long] = [
      (await world.root.post(discussions, { body: 'Why?' })).json.id,
      (await world.root.post(discussions, { body: 'How?' })).json.id,
    ]
    await addLongReplies(world, long, 3)
    const reply = async (id: string) => {
      expect((await world.root.post(`${discussions}/${id}/notes`, { body: 'So' })).status).toBe(201)
      expect((await world.root.get(`${discussions}/${id}/notes?per_page=1`)).json).toHaveLength(1)
    }
    await expectSameCost(
      () => reply(short),
      () => reply(long),
    )
  })
})

describe('resolving discussions', () => {
  test('developers and the author of the merge request resolve discussions', async ({ world }) => {
    const author = await world.user()
    const { discussions, at, developer, project } = await discussed(world, author)
    await world.root.delete(`/projects/${project.id}/members/${author.id}`)
    const ann = await world.user()
    const { id } = (await ann.post(discussions, { body: 'Why?' })).json
    const one = `${discussions}/${id}`
    await ann.post(`${one}/notes`, { body: 'Say!' })
    expect((await ann.get(at)).json.blocking_discussions_resolved).toBe(false)
    expect((await ann.put(one, { resolved: true })).status).toBe(403)
    const settled = await author.put(one, { resolved: true })
    expect(settled).toMatchObject({ status: 200, json: { id } })
    expect(settled.json.notes).toMatchObject([
      { resolved: true, resolved_by: { id: author.id } },
      { resolved: true, resolved_by: { id: author.id } },
    ])
    expect((await ann.get(at)).json.blocking_discussions_resolved).toBe(true)
    expect((await ann.get(`${at}/notes`)).json[0]).toMatchObject({ system: true, body: 'resolved all threads' })
    // A second call by any user changes nothing.
    expect((await developer.put(one, { resolved: true })).json).toEqual(settled.json)
    expect((await ann.get(`${at}/notes`)).headers['x-total']).toBe('3')
    const opened = await developer.put(one, { resolved: false })
    expect(opened.json.notes).toMatchObject([
      { resolved: false, resolved_by: null },
      { resolved: false, resolved_by: null },
    ])
    expect((await ann.get(at)).json.blocking_discussions_resolved).toBe(false)
  })

  test('a discussion stays resolved when it is answered', async ({ world }) => {
    const { discussions, at, developer } = await discussed(world)
    const { id } = (await developer.post(discussions, { body: 'Why?' })).json
    await developer.put(`${discussions}/${id}`, { resolved: true })
    const ann = await world.user()
    expect((await ann.post(`${discussions}/${id}/notes`, { body: 'Thanks' })).json).toMatchObject({
      resolved: true,
      resolved_by: { id: ann.id },
    })
    expect((await ann.get(at)).json.blocking_discussions_resolved).toBe(true)
  })

  test('a single note can be edited or resolved, not both at once', async ({ world }) => {
    const { discussions, developer } = await discussed(world)
    const ann = await world.user()
    const { id, notes } = (await ann.post(discussions, { body: 'One' })).json
    await ann.post(`${discussions}/${id}/notes`, { body: 'Two' })
    const note = `${discussions}/${id}/notes/${notes[0].id}`
    expect(await developer.put(note, { resolved: true })).toMatchObject({
      status: 200,
      json: { id: notes[0].id, resolved: true, resolved_by: { id: developer.id } },
    })
    expect((await ann.get(`${discussions}/${id}`)).json.notes).toMatchObject([{ resolved: true }, { resolved: false }])
    expect((await ann.put(note, { resolved: false })).status).toBe(403)
    expect((await developer.put(note, { body: 'x' })).status).toBe(403)
    expect(await ann.put(note, { body: '1' })).toMatchObject({ status: 200, json: { body: '1', resolved: true } })
    expect(await developer.put(note, { resolved: false })).toMatchObject({ json: { resolved: false } })
    expect(await ann.put(note, {})).toMatchObject({
      status: 400,
      json: { error: 'body, resolved are missing, exactly one parameter must be provided' },
    })
    expect(await ann.put(note, { body: 'x', resolved: true })).toMatchObject({
      status: 400,
      json: { error: 'body, resolved are mutually exclusive' },
    })
    expect(await ann.put(`${discussions}/${id}`, {})).toMatchObject({
      status: 400,
      json: { error: 'resolved is missing' },
    })
  })

  test('403 for resolving discussions of an archived project', async ({ world }) => {
    const { discussions, project } = await discussed(world)
    const { id, notes } = (await world.root.post(discussions, { body: 'One' })).json
    await changeProject(world, project.id, { archived: true })
    const one = `${discussions}/${id}`
    for (const answer of [
      await world.root.put(one, { resolved: true }),
      await world.root.put(`${one}/notes/${notes[0].id}`, { resolved: true }),
      await world.root.put(`${one}/notes/${notes[0].id}`, { body: 'x' }),
      await world.root.post(`${one}/notes`, { body: 'x' }),
      await world.root.delete(`${one}/notes/${notes[0].id}`),
    ])
      expect(answer.status).toBe(403)
    expect((await world.root.get(one)).status).toBe(200)
  })

  test('concurrent resolutions of a discussion emit one event', async ({ world }) => {
    const { discussions, at } = await discussed(world)
    const { id } = (await world.root.post(discussions, { body: 'One' })).json
    await Promise.all(Array.from({ length: 8 }, () => world.root.put(`${discussions}/${id}`, { resolved: true })))
    const systemNotes = (await world.root.get(`${at}/notes`)).json.filter(({ system }: { system: boolean }) => system)
    expect(systemNotes).toHaveLength(1)
    const events = await eventsOf(world, { kind: 'discussion_resolved', payload: { discussion_id: id } }, 'payload')
    expect(events).toHaveLength(1)
  })
})

describe('positions of discussions', () => {
  test.for([
    ['an added line', { new_line: 5 }, { old_line: null, new_line: 5 }],
    ['a removed line', { old_line: 9 }, { old_line: 9, new_line: null }],
    ['an unchanged line', { old_line: 10, new_line: 9 }, { old_line: 10, new_line: 9 }],
    [
      'a point of an image',
      { position_type: 'image', new_path: 'b.png', width: 10, height: 20, x: 10, y: 0 },
      { position_type: 'image', old_path: 'b.png', new_path: 'b.png', width: 10, height: 20, x: 10, y: 0 },
    ],
  ] as const)('a position in the diff is %s, also for answers', async ([, more, shown], { world }) => {
    const { discussions, place, record } = await discussed(world)
    const started = await world.root.post(discussions, { body: 'Here', position: { ...place, ...more } })
    expect(started.status).toBe(201)
    const [note] = started.json.notes
    expect(note).toMatchObject({ type: 'DiffNote', resolvable: true })
    expect(note.position).toEqual({
      ...record.diff_refs,
      position_type: 'text',
      old_path: 'a.txt',
      new_path: 'a.txt',
      ...shown,
    })
    const answered = (await world.root.post(`${discussions}/${started.json.id}/notes`, { body: 'There' })).json
    expect(answered).toMatchObject({ type: 'DiffNote', position: note.position })
  })

  test('400 for a position that the diff of the version does not show', async ({ world }) => {
    const { discussions, place, head } = await discussed(world)
    const post = (more: object) => world.root.post(discussions, { body: 'x', position: { ...place, ...more } })
    for (const more of [
      { new_line: 1 },
      { new_line: 100 },
      { old_line: 4 },
      { old_line: 9, new_line: 9 },
      { new_line: 5, new_path: 'none.txt' },
      { new_line: 5, old_path: 'none.txt' },
      { new_line: 5, new_path: undefined },
      {},
      { position_type: 'image', new_path: 'b.png', width: 10, height: 10, x: 11, y: 1 },
      { position_type: 'image', new_path: 'b.png', width: 10, height: 10, x: 1 },
      { position_type: 'image', new_path: 'none.png', width: 10, height: 10, x: 1, y: 1 },
    ])
      expect(await post(more), JSON.stringify(more)).toMatchObject(
        refused('position', 'is not in the diff of the merge request'),
      )
    for (const more of [
      { new_line: 5, head_sha: 'topic' },
      { new_line: 5, base_sha: head },
      { new_line: 5, start_sha: '0'.repeat(40) },
    ])
      expect(await post(more), JSON.stringify(more)).toMatchObject(
        refused('position', 'is of no version of the merge request'),
      )
    for (const [more, error] of [
      [{ new_line: 0 }, 'position[new_line] does not have a valid value'],
      [{ new_line: 5, position_type: 'sound' }, 'position[position_type] does not have a valid value'],
      [{ new_line: 5, base_sha: undefined }, 'position[base_sha] is missing'],
      [{ new_line: 5, x: -1 }, 'position[x] does not have a valid value'],
    ] as const)
      expect(await post(more)).toMatchObject({ status: 400, json: { error } })
  })
})
