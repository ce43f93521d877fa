import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'

/** A public project whose second commit replaced the fifth of ten lines and removed the ninth. */
async function discussed(world: World, members: readonly (readonly [Client, string])[] = []) {
  const project = await storedProject(world, { visibility: 'public', members: members as never })
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`)
  const first = project.repository.commit({ 'a.txt': lines.join('') })
  lines[4] = 'changed\n'
  lines.splice(8, 1)
  const second = project.repository.commit({ 'a.txt': lines.join('') })
  const at = `/projects/${project.id}/repository/commits/${second}`
  const place = { base_sha: first, start_sha: first, head_sha: second, position_type: 'text', new_path: 'a.txt' }
  return { project, first, second, at, discussions: `${at}/discussions`, comments: `${at}/comments`, place }
}

const refused = (field: string, text: string) => ({
  status: 400,
  json: { message: `400 (Bad request) "Note {:${field}=>["${text}"]}" not given` },
})

describe('discussions of a commit', () => {
  test('discussions of a commit are started, answered and read, singly and in pages', async ({ world }) => {
    const { discussions, second, comments } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const started = await ann.post(discussions, { body: 'Why?' })
    expect(started).toMatchObject({
      status: 201,
      json: {
        id: expect.stringMatching(/^[0-9a-f]{40}$/),
        individual_note: false,
        notes: [{ type: 'DiscussionNote', body: 'Why?', author: { id: ann.id }, commit_id: second, system: false }],
      },
    })
    const one = `${discussions}/${started.json.id}`
    const answered = await bob.post(`${one}/notes`, { body: 'Because' })
    expect(answered).toMatchObject({ status: 201, json: { type: 'DiscussionNote', author: { id: bob.id } } })
    const bodies = ({ notes }: { notes: { body: string }[] }) => notes.map(({ body }) => body)
    expect(bodies((await world.anonymous.get(one)).json)).toEqual(['Why?', 'Because'])
    expect((await ann.get(`${one}/notes`)).json).toMatchObject([{ body: 'Why?' }, answered.json])
    expect((await ann.get(`${one}/notes/${answered.json.id}`)).json).toEqual(answered.json)
    await ann.post(discussions, { body: 'Another' })
    const list = await ann.get(`${discussions}?per_page=1&page=2`)
    expect(list.json.map(bodies)).toEqual([['Another']])
    expect(list.headers['x-total']).toBe('2')
    // All of them are listed as comments, too.
    expect((await ann.get(comments)).json).toMatchObject([{ note: 'Why?' }, { note: 'Because' }, { note: 'Another' }])
  })

  test('comments are discussions: those on a line can be answered, others cannot', async ({ world }) => {
    const { discussions, comments } = await discussed(world)
    await world.root.post(comments, { note: 'whole' })
    await world.root.post(comments, { note: 'line', path: 'a.txt', line: 5 })
    const [whole, line] = (await world.root.get(discussions)).json
    expect(whole).toMatchObject({ individual_note: true, notes: [{ type: null, body: 'whole' }] })
    expect(line).toMatchObject({ individual_note: false, notes: [{ type: 'LegacyDiffNote', body: 'line' }] })
    expect(await world.root.post(`${discussions}/${whole.id}/notes`, { body: 'x' })).toMatchObject({
      status: 400,
      json: { message: 'Discussion is an individual note.' },
    })
    expect(await world.root.post(`${discussions}/${line.id}/notes`, { body: 'x' })).toMatchObject({
      status: 201,
      json: { type: 'LegacyDiffNote' },
    })
    expect((await world.root.get(comments)).json[2]).toMatchObject({ note: 'x', path: 'a.txt', line: 5 })
  })

  test('a discussion can be on a line of the diff, and its answers are on the same line', async ({ world }) => {
    const { discussions, comments, place } = await discussed(world)
    for (const [lines, comment] of [
      [{ new_line: 5 }, { path: 'a.txt', line: 5, line_type: 'new' }],
      [{ old_line: 5 }, { path: 'a.txt', line: 5, line_type: 'old' }],
      [{ old_line: 9 }, { path: 'a.txt', line: 9, line_type: 'old' }],
      [
        { old_line: 10, new_line: 9 },
        { path: null, line: null, line_type: null },
      ],
    ]) {
      const { status, json } = await world.root.post(discussions, { body: 'here', position: { ...place, ...lines } })
      expect(status).toBe(201)
      const position = { ...place, old_path: 'a.txt', old_line: null, new_line: null, ...lines }
      expect(json.notes[0]).toMatchObject({ type: 'DiffNote', position })
      const answered = await world.root.post(`${discussions}/${json.id}/notes`, { body: 'yes' })
      expect(answered.json).toMatchObject({ type: 'DiffNote', position })
      expect((await world.root.get(comments)).json.slice(-2)).toMatchObject([comment, comment])
    }
    expect(
      (
        await world.root.post(discussions, {
          body: 'x',
          position: { ...place, new_line: 5, new_path: undefined, old_path: 'a.txt' },
        })
      ).status,
    ).toBe(201)
  })

  test('400 for a discussion on another position', async ({ world }) => {
    const { discussions, place, second } = await discussed(world)
    for (const more of [
      { new_line: 1 },
      { new_line: 9 },
      { old_line: 4 },
      { old_line: 9, new_line: 9 },
      { old_line: 1, new_line: 1 },
      { new_line: 5, new_path: 'b.txt' },
      { new_line: 5, old_path: 'b.txt' },
      { new_line: 5, new_path: undefined },
      { new_line: 5, head_sha: 'main' },
      { new_line: 5, base_sha: second },
    ])
      expect(
        await world.root.post(discussions, { body: 'x', position: { ...place, ...more } }),
        JSON.stringify(more),
      ).toMatchObject(refused('position', 'is not in the diff of the commit'))
    for (const [more, error] of [
      [{}, 'position[old_line], position[new_line] are missing, at least one parameter must be provided'],
      [{ new_line: 0 }, 'position[new_line] does not have a valid value'],
      [{ new_line: 5, position_type: 'image' }, 'position[position_type] does not have a valid value'],
      [{ new_line: 5, base_sha: undefined }, 'position[base_sha] is missing'],
    ] as const)
      expect(await world.root.post(discussions, { body: 'x', position: { ...place, ...more } })).toMatchObject({
        status: 400,
        json: { error },
      })
  })

  test('authors and maintainers edit and delete notes; deleting the last ends the discussion', async ({ world }) => {
    const [ann, bob, developer, maintainer] = [
      await world.user(),
      await world.user(),
      await world.user(),
      await world.user(),
    ]
    const { discussions, project } = await discussed(world, [
      [developer, 'developer'],
      [maintainer, 'maintainer'],
    ])
    const { id, notes } = (await ann.post(discussions, { body: 'One' })).json
    const note = `${discussions}/${id}/notes/${notes[0].id}`
    for (const who of [bob, developer]) {
      expect((await who.put(note, { body: 'x' })).status).toBe(403)
      expect((await who.delete(note)).status).toBe(403)
    }
    expect(await ann.put(note, { body: 'Two' })).toMatchObject({
      status: 200,
      json: { body: 'Two', author: { id: ann.id } },
    })
    expect(await maintainer.put(note, { body: 'Three' })).toMatchObject({ status: 200, json: { body: 'Three' } })
    expect((await ann.get(note)).json.body).toBe('Three')
    expect(await ann.put(note, { body: ' ' })).toMatchObject(refused('note', "can't be blank"))
    await world.root.post(`/projects/${project.id}/archive`)
    expect((await ann.put(note, { body: 'x' })).status).toBe(403)
    await world.root.post(`/projects/${project.id}/unarchive`)
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
    expect((await ann.delete(note, { headers })).status).toBe(412)
    expect((await ann.delete(note)).status).toBe(204)
    for (const path of [note, `${discussions}/${id}`]) expect((await ann.get(path)).status).toBe(404)
    expect(await ann.post(`${discussions}/${id}/notes`, { body: 'x' })).toMatchObject({
      status: 404,
      json: { message: '404 Discussion Not Found' },
    })
    const kinds = await eventsOf(world, { project: project.id, kind: 'note_%' }, 'kind')
    expect(kinds.map(({ kind }) => kind)).toEqual(['note_created', 'note_updated', 'note_updated', 'note_deleted'])
  })

  test('404 for a discussion of another commit', async ({ world }) => {
    const { discussions, project, first } = await discussed(world)
    const { id, notes } = (await world.root.post(discussions, { body: 'x' })).json
    const other = `/projects/${project.id}/repository/commits/${first}/discussions`
    expect((await world.root.get(other)).json).toEqual([])
    for (const path of [`${other}/${id}`, `${other}/${id}/notes`, `${other}/${id}/notes/${notes[0].id}`])
      expect((await world.root.get(path)).status).toBe(404)
    expect((await world.root.delete(`${other}/${id}/notes/${notes[0].id}`)).status).toBe(404)
    expect(await world.root.get(discussions.replace(/commits\/\w+/, 'commits/none'))).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
    expect(await world.root.post(discussions, { body: ' ' })).toMatchObject(refused('note', "can't be blank"))
    expect((await world.anonymous.post(discussions, { body: 'x' })).status).toBe(401)
  })
})
