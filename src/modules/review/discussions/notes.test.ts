import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const refused = (field: string, text: string) => ({
  status: 400,
  json: { message: `400 (Bad request) "Note {:${field}=>["${text}"]}" not given` },
})
const notThere = { status: 404, json: { message: '404 Not found' } }

/** A public merge request with one user of each role. */
async function withNotes(world: World) {
  const [ann, developer, maintainer] = await Promise.all([world.user(), world.user(), world.user()])
  const opened = await openMergeRequest(world, {
    members: [
      [developer, 'developer'],
      [maintainer, 'maintainer'],
    ],
  })
  return { ...opened, notes: `${opened.at}/notes`, ann, developer, maintainer }
}

describe('notes of a merge request', () => {
  test('notes of a merge request are created, read, edited and deleted', async ({ world }) => {
    const { notes, ann, id, iid } = await withNotes(world)
    const created = await ann.post(notes, { body: 'Well done' })
    expect(created).toMatchObject({ status: 201 })
    expect(created.json).toEqual({
      id: expect.any(Number),
      type: null,
      body: 'Well done',
      attachment: null,
      author: expect.objectContaining({ id: ann.id, username: ann.username }),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: created.json.created_at,
      system: false,
      noteable_id: id,
      noteable_type: 'MergeRequest',
      noteable_iid: iid,
      resolvable: false,
    })
    const one = `${notes}/${created.json.id}`
    expect((await world.root.get(one)).json).toEqual(created.json)
    const changed = await ann.put(one, { body: 'Better' })
    expect(changed).toMatchObject({ status: 200, json: { body: 'Better', created_at: created.json.created_at } })
    expect(changed.json.updated_at > created.json.updated_at).toBe(true)
    expect((await ann.get(notes)).json).toEqual([changed.json])
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
    expect((await ann.delete(one, { headers })).status).toBe(412)
    expect(await ann.delete(one)).toMatchObject({ status: 204, text: '' })
    expect(await ann.get(one)).toMatchObject(notThere)
    expect((await ann.get(notes)).json).toEqual([])
  })

  test('notes are listed with system notes, newest first or as requested', async ({ world }) => {
    const { notes, at, ann } = await withNotes(world)
    for (const body of ['one', 'two', 'three']) await ann.post(notes, { body })
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    const bodies = async (query: string) => {
      const { json, headers } = await ann.get(`${notes}?${query}`)
      return [json.map(({ body }: { body: string }) => body), headers['x-total']]
    }
    const systemText = 'changed time estimate to 1h'
    expect(await bodies('')).toEqual([[systemText, 'three', 'two', 'one'], '4'])
    expect(await bodies('sort=asc&per_page=2&page=2')).toEqual([['three', systemText], '4'])
    const [, , two] = (await ann.get(notes)).json
    await ann.put(`${notes}/${two.id}`, { body: 'second' })
    expect(await bodies('order_by=updated_at')).toEqual([['second', systemText, 'three', 'one'], '4'])
    expect(await ann.get(`${notes}?order_by=id`)).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
  })

  test('400 for a note without text', async ({ world }) => {
    const { notes, ann } = await withNotes(world)
    const { id } = (await ann.post(notes, { body: 'x' })).json
    for (const body of ['', ' \n']) {
      expect(await ann.post(notes, { body })).toMatchObject(refused('note', "can't be blank"))
      expect(await ann.put(`${notes}/${id}`, { body })).toMatchObject(refused('note', "can't be blank"))
    }
    expect(await ann.post(notes, { body: 'x'.repeat(1_000_001) })).toMatchObject(
      refused('note', 'is too long (maximum is 1000000 characters)'),
    )
    expect(await ann.post(notes, {})).toMatchObject({ status: 400, json: { error: 'body is missing' } })
  })

  test('authors and maintainers edit and delete notes; 403 for system notes', async ({ world }) => {
    const { notes, at, ann, developer, maintainer } = await withNotes(world)
    const { id } = (await ann.post(notes, { body: 'x' })).json
    const one = `${notes}/${id}`
    expect((await developer.put(one, { body: 'y' })).status).toBe(403)
    expect((await developer.delete(one)).status).toBe(403)
    expect((await maintainer.put(one, { body: 'y' })).json).toMatchObject({ body: 'y', author: { id: ann.id } })
    expect((await maintainer.delete(one)).status).toBe(204)
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    const [systemNote] = (await ann.get(notes)).json
    expect(systemNote).toMatchObject({ system: true, author: { id: 1 }, resolvable: false })
    expect((await world.root.put(`${notes}/${systemNote.id}`, { body: 'x' })).status).toBe(403)
    expect((await world.root.delete(`${notes}/${systemNote.id}`)).status).toBe(403)
  })

  test('only members write notes once the discussion is locked', async ({ world }) => {
    const { notes, at, id, ann, developer } = await withNotes(world)
    const { id: noteId } = (await ann.post(notes, { body: 'x' })).json
    await changeMergeRequest(world, id, { discussion_locked: true })
    expect(await ann.post(notes, { body: 'y' })).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await ann.put(`${notes}/${noteId}`, { body: 'y' })).status).toBe(403)
    expect((await ann.delete(`${notes}/${noteId}`)).status).toBe(403)
    for (const path of [at, `${notes}/${noteId}`])
      expect((await ann.post(`${path}/award_emoji`, { name: 'tada' })).status).toBe(403)
    expect((await ann.get(notes)).status).toBe(200)
    expect((await developer.post(notes, { body: 'y' })).status).toBe(201)
  })

  test('created_at of a note is accepted from owners only', async ({ world }) => {
    const [maintainer, owner] = [await world.user(), await world.user()]
    const group = await world.group({
      visibility: 'public',
      members: [
        [maintainer, 'maintainer'],
        [owner, 'owner'],
      ],
    })
    const notes = `${(await openMergeRequest(world, { project: await storedProject(world, { group }) })).at}/notes`
    const created_at = '2020-02-03T04:05:06.789Z'
    for (const who of [owner, world.root])
      expect((await who.post(notes, { body: 'x', created_at })).json).toMatchObject({
        created_at,
        updated_at: created_at,
      })
    const { json } = await maintainer.post(notes, { body: 'x', created_at })
    expect(json.created_at > '2021').toBe(true)
  })

  test('404 for notes of another merge request', async ({ world }) => {
    const { notes, at, project, ann } = await withNotes(world)
    const { id } = (await ann.post(notes, { body: 'x' })).json
    const other = await openMergeRequest(world, { project, branch: 'other' })
    for (const path of [`${other.at}/notes/${id}`, `${at}/notes/0`, `${at.replace(/\d+$/, '99')}/notes/${id}`]) {
      expect(await world.root.get(path)).toMatchObject(notThere)
      expect(await world.root.put(path, { body: 'y' })).toMatchObject(notThere)
      expect(await world.root.delete(path)).toMatchObject(notThere)
    }
    expect((await ann.get(`${other.at}/notes`)).json).toEqual([])
  })

  test('notes are counted, and update the activity of the merge request and project', async ({ world }) => {
    const { notes, at, project, record, ann, id } = await withNotes(world)
    await changeProject(world, project.id, { last_activity_at: '2020-01-01' })
    const { json } = await ann.post(notes, { body: 'Text' })
    const now = (await ann.get(at)).json
    expect(now.user_notes_count).toBe(1)
    expect(now.updated_at > record.updated_at).toBe(true)
    expect((await ann.get(`/projects/${project.id}`)).json.last_activity_at > '2021').toBe(true)
    const events = await eventsOf(world, { project: project.id, kind: 'note_created' })
    expect(events).toMatchObject([
      {
        actor_id: ann.id,
        payload: {
          note_id: json.id,
          noteable_type: 'MergeRequest',
          noteable_id: id,
          noteable_iid: 1,
        },
      },
    ])
    expect((await ann.get('/events?action=commented')).json).toMatchObject([
      {
        action_name: 'commented on',
        target_type: 'Note',
        target_id: json.id,
        target_iid: json.id,
        target_title: 'Merge topic',
        author: { id: ann.id },
        note: json,
      },
    ])
  })

  test('note events are visible to users who can read merge requests', async ({ world }) => {
    const [guest, reporter] = [await world.user(), await world.user()]
    const { at, project } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    await reporter.post(`${at}/notes`, { body: 'x' })
    const namesOf = async (who: Client, type: string): Promise<string[]> =>
      (await who.get(`/projects/${project.id}/events?target_type=${type}`)).json.map(
        ({ action_name }: { action_name: string }) => action_name,
      )
    const lines = async (who: Client) => [...(await namesOf(who, 'note')), ...(await namesOf(who, 'merge_request'))]
    expect(await lines(reporter)).toEqual(['commented on', 'opened'])
    expect(await lines(guest)).toEqual([])
    await changeProject(world, project.id, { visibility: 20 })
    expect(await lines(guest)).toEqual(['commented on', 'opened'])
    expect(await lines(world.anonymous)).toEqual([])
    await changeProject(world, project.id, { merge_requests_access_level: 0 })
    expect(await lines(world.root)).toEqual([])
  })

  test('404 for a note created while the merge request is deleted', async ({ world }) => {
    const { notes, id, ann } = await withNotes(world)
    const holding = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const going = world.db.transaction(async (tx) => {
      await tx.run({ text: 'delete from merge_requests where id = $1', values: [id] })
      holding.resolve()
      await release.promise
    })
    await holding.promise
    const creation = ann.post(notes, { body: 'Wait' })
    await world.waitsForLock()
    release.resolve()
    expect(await creation).toMatchObject(notThere)
    await going
  })
})
