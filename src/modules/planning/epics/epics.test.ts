import { describe, expect } from 'vitest'
import { type Client, test, unique } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { openEpic } from './testing.ts'

describe('an epic', () => {
  test('is created with its attributes and read by number', async ({ world }) => {
    const { group, at, id, record } = await openEpic(world, {
      title: 'Faster\nbuilds',
      description: 'All of them',
      labels: 'speed,ci',
      confidential: true,
      start_date_is_fixed: true,
      start_date_fixed: '2030-01-02',
      due_date_fixed: '2030-02-03',
    })
    const url = `${world.origin}/api/v4/groups/${group.id}`
    expect(record).toMatchObject({
      iid: 1,
      group_id: group.id,
      parent_id: null,
      title: 'Faster builds',
      description: 'All of them',
      state: 'opened',
      confidential: true,
      author: { id: world.root.id },
      labels: ['ci', 'speed'],
      start_date: '2030-01-02',
      start_date_is_fixed: true,
      start_date_from_milestones: null,
      due_date: null,
      due_date_fixed: '2030-02-03',
      end_date: null,
      closed_at: null,
      upvotes: 0,
      web_url: `${world.origin}/groups/${group.full_path}/-/epics/1`,
      references: { short: '&1', relative: '&1', full: `${group.full_path}&1` },
      _links: { self: `${url}/epics/1`, epic_issues: `${url}/epics/1/issues`, group: url, parent: null },
    })
    expect((await world.root.get(at)).json).toEqual(record)
    expect((await world.root.get(`/groups/${group.id}/labels`)).json.map(({ name }: any) => name)).toEqual([
      'ci',
      'speed',
    ])
    expect((await world.root.get(`/groups/${group.id}/epics`)).json).toEqual([{ ...record, subscribed: undefined }])
    expect(id).toBeGreaterThan(0)
  })

  test('is changed, closed, opened again and deleted, with system notes and events', async ({ world }) => {
    const { at, group } = await openEpic(world, { title: 'Old' })
    const changed = await world.root.put(at, {
      title: 'New',
      description: 'More',
      labels: 'speed',
      confidential: true,
      start_date: '2030-01-02',
      state_event: 'close',
    })
    expect(changed.json).toMatchObject({
      title: 'New',
      state: 'closed',
      confidential: true,
      labels: ['speed'],
      start_date: '2030-01-02',
      start_date_is_fixed: true,
    })
    expect(changed.json.closed_at).not.toBeNull()
    expect((await world.root.put(at, { state_event: 'reopen', remove_labels: 'speed' })).json).toMatchObject({
      state: 'opened',
      closed_at: null,
      labels: [],
    })
    expect((await world.root.get(`${at}/notes?sort=asc`)).json.map(({ body }: any) => body)).toEqual([
      'changed title from **Old** to **New**',
      'changed the description',
      'made the epic confidential',
      'changed the fixed start date to January 2, 2030',
      'closed',
      'reopened',
    ])
    expect((await world.root.get(`${at}/resource_state_events`)).json.map(({ state }: any) => state)).toEqual([
      'closed',
      'reopened',
    ])
    expect(await world.root.delete(at)).toMatchObject({ status: 204 })
    expect(await world.root.delete(at)).toMatchObject({ status: 404, json: { message: '404 Epic Not Found' } })
    expect((await world.root.get(at)).json).toEqual({ message: '404 Not found' })
    expect((await openEpic(world, { group })).iid).toBe(2)
  })

  test('is refused without a title, with a bad one, and by those below reporter', async ({ world }) => {
    const [guest, reporter, stranger] = await Promise.all([world.user(), world.user(), world.user()])
    const { at, group } = await openEpic(world, {
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    const epics = `/groups/${group.id}/epics`
    expect(await world.root.post(epics, {})).toMatchObject({ status: 400, json: { error: 'title is missing' } })
    expect(await world.root.post(epics, { title: 'x'.repeat(256) })).toMatchObject({
      status: 400,
      json: { message: { title: ['is too long (maximum is 255 characters)'] } },
    })
    expect((await world.root.post(epics, { title: '\0' })).status).toBe(400)
    expect((await reporter.post(epics, { title: 'Mine' })).status).toBe(201)
    expect((await reporter.put(at, { title: 'Mine' })).status).toBe(200)
    for (const who of [guest, stranger]) {
      expect((await who.post(epics, { title: 'x' })).status).toBe(403)
      expect((await who.put(at, { title: 'x' })).status).toBe(403)
      expect((await who.get(at)).status).toBe(200)
    }
    expect((await reporter.delete(at)).status).toBe(403)
    expect((await world.anonymous.get(at)).status).toBe(401)
  })

  test('of a private group is hidden from others, and a confidential one from guests', async ({ world }) => {
    const [guest, reporter, stranger] = await Promise.all([world.user(), world.user(), world.user()])
    const members = [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ] as [Client, Level][]
    const hidden = await openEpic(world, { members, visibility: 'private', confidential: true })
    const plain = await openEpic(world, { group: hidden.group })
    expect(await guest.get(hidden.at)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await reporter.get(hidden.at)).status).toBe(200)
    const epics = `/groups/${hidden.group.id}/epics`
    expect((await guest.get(epics)).json.map(({ id }: any) => id)).toEqual([plain.id])
    expect((await reporter.get(epics)).json.map(({ id }: any) => id)).toEqual([plain.id, hidden.id])
    expect((await stranger.get(plain.at)).status).toBe(404)
    const project = await world.project({
      group: hidden.group,
      visibility: 'private',
      members: [[stranger, 'developer']],
    })
    expect(project.id).toBeGreaterThan(0)
    expect((await stranger.get(`/groups/${hidden.group.id}`)).status).toBe(200)
    expect((await stranger.get(plain.at)).status).toBe(403)
    expect((await stranger.get(epics)).status).toBe(403)
  })

  test('D3-EVENTS-EPIC D3-EVENTS-SHAPE D3-EVENTS-INT-IDS: has an event for each label, in a list and alone', async ({
    world,
  }) => {
    const reader = await world.user()
    const { at, id } = await openEpic(world, { labels: 'one,two' })
    await world.root.put(at, { labels: 'two,three' })
    const events = (await reader.get(`${at}/resource_label_events`)).json
    expect(events).toMatchObject([
      { resource_type: 'Epic', resource_id: id, action: 'add', label: { name: 'one' }, user: { id: world.root.id } },
      { action: 'add', label: { name: 'two' } },
      { action: 'remove', label: { name: 'one' } },
      { action: 'add', label: { name: 'three' } },
    ])
    expect((await reader.get(`${at}/resource_label_events/${events[0].id}`)).json).toEqual(events[0])
    const other = await openEpic(world)
    expect((await reader.get(`${other.at}/resource_label_events/${events[0].id}`)).status).toBe(404)
    expect((await world.anonymous.get(`${at}/resource_label_events`)).status).toBe(401)
  })

  test('gets the next number of its group, without gaps, from 16 writers at once', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const made = await Promise.all(Array.from({ length: 16 }, (_, n) => openEpic(world, { group, title: `Epic ${n}` })))
    expect(made.map(({ iid }) => iid).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n + 1))
  })

  test('goes with its group, and is found under its new path after a rename', async ({ world }) => {
    const { at, group } = await openEpic(world)
    const path = unique('renamed')
    await world.root.put(`/groups/${group.id}`, { path })
    expect((await world.root.get(at)).json.references.full).toBe(`${path}&1`)
    expect((await world.root.get(`/groups/${path}/epics/1`)).status).toBe(200)
  })
})
