import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { answerDuring } from '../../../../test/during.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import {
  projectRow,
  recountedTopics,
  restoreDeletionDates,
  storedTopicCounts,
  topicRow,
} from '../../../../test/tables/projects.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { removeMarkedGroups } from '../../groups/groups/due-jobs.ts'
import { removeMarkedProjects, removeProject } from '../projects/jobs.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The topic of this name in the list for this caller. */
const seenBy = async (who: Client, name: string) =>
  (await who.get(`/topics?search=${name}`)).json.find((topic: { name: string }) => topic.name === name)
const countFor = async (who: Client, name: string) => (await seenBy(who, name))?.total_projects_count

const projectWith = async (world: World, topics: string[], more = {}) =>
  world.project({ visibility: 'public', topics, ...more })

/** Counted private, internal and public projects of topics. */
const countsOf = (world: World, ...names: string[]): Promise<number[][]> =>
  Promise.all(
    names.map(async (name) => {
      const [topic] = await topicRow(world, name)
      return [topic?.private_projects, topic?.internal_projects, topic?.public_projects]
    }),
  )

/** Hides deleted projects and groups, as if the days of delay were over. Jobs delete them later. */
async function endDelay(world: World): Promise<void> {
  for (const table of ['projects', 'namespaces'] as const) await restoreDeletionDates(world, table)
  const ctx = await contextFor(world, null)
  await removeMarkedProjects.run({}, ctx)
  await removeMarkedGroups.run({}, ctx)
}

describe('topics', () => {
  test('topics count projects as they are created, edited and deleted', async ({ world }) => {
    const [one, two] = [unique('topic'), unique('topic')]
    const first = await projectWith(world, [one, two])
    await projectWith(world, [one])
    const count = (name: string) => countFor(world.anonymous, name)
    expect([await count(one), await count(two)]).toEqual([2, 1])
    await world.root.put(`/projects/${first.id}`, { topics: [one] })
    expect([await count(one), await count(two)]).toEqual([2, undefined])
    await world.root.put(`/projects/${first.id}`, { topics: [two, one.toUpperCase()] })
    expect([await count(one), await count(two)]).toEqual([2, 1])
    await world.root.delete(`/projects/${first.id}`)
    expect([await count(one), await count(two)]).toEqual([2, 1])
    await endDelay(world)
    expect([await count(one), await count(two)]).toEqual([1, undefined])
    await removeProject.run({ projectId: first.id }, await contextFor(world, null))
    expect(await projectRow(world, first.id, 'id')).toEqual([])
    expect(await count(one)).toBe(1)
  })

  test('a less visible project is counted among less visible ones, with its forks and theirs', async ({ world }) => {
    const [name, forked] = [unique('topic'), unique('topic')]
    const group = await world.group({ visibility: 'public' })
    const source = await projectWith(world, [name], { group })
    const fork = await projectWith(world, [forked], { group })
    const second = await projectWith(world, [forked, name], { group })
    for (const [one, of] of [
      [fork, source],
      [second, fork],
    ] as const)
      expect((await world.root.post(`/projects/${one.id}/fork/${of.id}`)).status).toBe(201)
    expect(await countsOf(world, name, forked)).toEqual([
      [0, 0, 2],
      [0, 0, 2],
    ])
    await world.root.put(`/projects/${source.id}`, { visibility: 'internal' })
    expect(await countsOf(world, name, forked)).toEqual([
      [0, 2, 0],
      [0, 2, 0],
    ])
    await world.root.put(`/projects/${second.id}`, { visibility: 'private' })
    await world.root.put(`/projects/${source.id}`, { visibility: 'public' })
    expect(await countsOf(world, name, forked)).toEqual([
      [1, 0, 1],
      [1, 1, 0],
    ])
  })

  test('a fork of a less visible project has the topics of the request counted once', async ({ world }) => {
    const name = unique('topic')
    const source = await projectWith(world, [name], { visibility: 'internal' })
    const fork = (await world.root.post(`/projects/${source.id}/fork`, { name: unique('fork') })).json
    await world.root.put(`/projects/${fork.id}`, { topics: [name.toUpperCase()] })
    expect(await countsOf(world, name)).toEqual([[0, 2, 0]])
  })

  test('topic counts follow the transfer of projects and groups to less visible groups', async ({ world }) => {
    const name = unique('topic')
    const [outer, inner] = [await world.group(), await world.group({ visibility: 'public' })]
    const moved = await projectWith(world, [name])
    await projectWith(world, [name], { group: inner })
    expect(await countsOf(world, name)).toEqual([[0, 0, 2]])
    expect((await world.root.put(`/projects/${moved.id}/transfer`, { namespace: outer.id })).status).toBe(200)
    expect(await countsOf(world, name)).toEqual([[1, 0, 1]])
    expect((await world.root.post(`/groups/${inner.id}/transfer`, { group_id: outer.id })).status).toBe(201)
    expect(await countsOf(world, name)).toEqual([[2, 0, 0]])
  })

  test('projects of a deleted group or user no longer count for their topics', async ({ world }) => {
    const [name, ann] = [unique('topic'), await world.user()]
    const group = await world.group({ visibility: 'public' })
    await projectWith(world, [name], { group })
    await ann.post('/projects', { name: unique('own'), topics: [name], visibility: 'public' })
    await projectWith(world, [name])
    expect(await countsOf(world, name)).toEqual([[0, 0, 3]])
    await world.root.delete(`/groups/${group.id}`)
    await endDelay(world)
    expect(await countsOf(world, name)).toEqual([[0, 0, 2]])
    expect((await world.root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
    expect(await countsOf(world, name)).toEqual([[0, 0, 1]])
  })

  test('topic counts are correct when a source is limited while its fork is edited', async ({ world }) => {
    const [name, other] = [unique('topic'), unique('topic')]
    const source = await projectWith(world, [name])
    const fork = (await world.root.post(`/projects/${source.id}/fork`, { name: unique('fork') })).json
    for (const visibility of ['internal', 'private']) {
      const topics = visibility === 'internal' ? [other] : [name, other]
      const answers = await Promise.all([
        world.root.put(`/projects/${source.id}`, { visibility }),
        world.root.put(`/projects/${fork.id}`, { topics }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
    expect(await countsOf(world, name, other)).toEqual([
      [2, 0, 0],
      [1, 0, 0],
    ])
  })

  test('merging topics gives projects of the source the target, once', async ({ world }) => {
    const [go, golang, other] = [unique('go'), unique('golang'), unique('other')]
    const idOf = async (name: string) => (await world.root.post('/topics', { name, title: name })).json.id
    const [source, target] = [await idOf(golang), await idOf(go)]
    const both = await projectWith(world, [golang.toUpperCase(), other, go.toUpperCase()])
    const one = await projectWith(world, [golang])
    const merge = (ids: object, who = world.root) => who.post('/topics/merge', ids)
    const merged = await merge({ source_topic_id: source, target_topic_id: target })
    expect(merged).toMatchObject({ status: 201, json: { id: target, total_projects_count: 2 } })
    const topics = async ({ id }: { id: number }) => (await world.root.get(`/projects/${id}`)).json.topics.sort()
    expect([await topics(both), await topics(one)]).toEqual([[go.toUpperCase(), other].sort(), [go]])
    expect((await world.root.get(`/topics/${source}`)).status).toBe(404)
    expect(await merge({ source_topic_id: target, target_topic_id: target })).toMatchObject({
      status: 400,
      json: { message: 'The source topic and the target topic are identical' },
    })
    for (const ids of [
      { source_topic_id: source, target_topic_id: target },
      { source_topic_id: target, target_topic_id: source },
    ])
      expect((await merge(ids)).status).toBe(404)
    expect((await merge({ source_topic_id: 1, target_topic_id: 2 }, await world.user())).status).toBe(403)
    expect((await seenBy(world.root, go)).total_projects_count).toBe(2)
  })

  test('topic counts are correct after concurrent changes of many projects', async ({ world }) => {
    const names = [unique('topic'), unique('topic'), unique('topic')]
    const group = await world.group({ visibility: 'public' })
    const projects = await Promise.all([1, 2, 3, 4].map(() => projectWith(world, [], { group })))
    for (const round of [0, 1, 2])
      await Promise.all(
        projects.map(({ id }, index) =>
          world.root.put(`/projects/${id}`, {
            topics: names.filter((_, at) => (at + index + round) % 3 > 0).reverse(),
          }),
        ),
      )
    // The whole table equals a recount.
    expect(await storedTopicCounts(world)).toEqual(await recountedTopics(world))
    expect(await Promise.all(names.map((name) => countFor(world.anonymous, name)))).toEqual(
      names.map(() => expect.any(Number)),
    )
  })

  test.for(['renamed', 'deleted', 'merged'] as const)(
    'a topic that is %s while one of its projects is being edited does not hold up edits of others',
    async (how, { world }) => {
      const [name, other] = [unique('topic'), unique('topic')]
      const idOf = async (each: string) => (await world.root.post('/topics', { name: each, title: each })).json.id
      const [topic, target] = [await idOf(name), await idOf(other)]
      const [edited, later] = [await projectWith(world, [name]), await projectWith(world, [])]
      const change = () =>
        how === 'renamed'
          ? world.root.put(`/topics/${topic}`, { name: `${name}-new` })
          : how === 'deleted'
            ? world.root.delete(`/topics/${topic}`)
            : world.root.post('/topics/merge', { source_topic_id: topic, target_topic_id: target })
      const changed = await answerDuring(
        world,
        change,
        () => world.root.put(`/projects/${later.id}`, { topics: [other, name] }),
        (tx) => lockRow(tx, 'projects', edited.id),
      )
      expect(changed.status).toBeLessThan(300)
      const left = { renamed: [`${name}-new`], deleted: [], merged: [other] }[how]
      const topics = async ({ id }: { id: number }) => (await world.root.get(`/projects/${id}`)).json.topics.sort()
      expect(await topics(edited)).toEqual(left)
      expect(await topics(later)).toEqual([...new Set([...left, other])].sort())
      expect(await storedTopicCounts(world)).toEqual(await recountedTopics(world))
    },
  )

  test('topics of hidden projects are not shown or counted', async ({ world }) => {
    const name = unique('topic')
    const group = await world.group({ visibility: 'public' })
    const project = await projectWith(world, [name], { visibility: 'private', group })
    const [ann, ext] = [await world.user(), await world.user({ external: true })]
    const all = async () => Promise.all([world.anonymous, ext, ann, world.root].map((who) => countFor(who, name)))
    expect(await all()).toEqual([undefined, undefined, undefined, 1])
    const { id } = await seenBy(world.root, name)
    expect((await ann.get(`/topics/${id}`)).status).toBe(404)
    await world.root.put(`/projects/${project.id}`, { visibility: 'internal' })
    expect(await all()).toEqual([undefined, undefined, 1, 1])
    await world.root.put(`/projects/${project.id}`, { visibility: 'public' })
    expect(await all()).toEqual([1, 1, 1, 1])
    expect((await world.anonymous.get(`/topics/${id}`)).json.name).toBe(name)
  })

  test('topics are listed by number of projects and can be searched', async ({ world }) => {
    const word = unique('sorted')
    await projectWith(world, [`${word}-a`, `${word}-b`])
    await projectWith(world, [`${word}-b`])
    await world.root.post('/topics', { name: `${word}-c`, title: 'Unused' })
    const listed = async (query: string) =>
      (await world.anonymous.get(`/topics?${query}`)).json.map((topic: { name: string }) => topic.name)
    expect(await listed(`search=${word.toUpperCase()}`)).toEqual([`${word}-b`, `${word}-a`, `${word}-c`])
    expect(await listed(`search=${word}&without_projects=true`)).toEqual([`${word}-c`])
    expect(await listed(`search=${word}%25`)).toEqual([])
  })

  test('administrators describe topics with or without projects', async ({ world }) => {
    const name = unique('topic')
    await projectWith(world, [name])
    const made = await world.root.post('/topics', { name, title: 'A title', description: 'What it is' })
    const record = {
      id: expect.any(Number),
      name,
      title: 'A title',
      description: 'What it is',
      total_projects_count: 1,
      avatar_url: null,
    }
    expect(made.status).toBe(201)
    expect(made.json).toEqual(record)
    expect(await world.root.post('/topics', { name: name.toUpperCase() })).toMatchObject({
      status: 400,
      json: { message: { name: ['has already been taken'] } },
    })
    for (const [body, json] of [
      [{}, { error: 'name is missing' }],
      [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
      [{ name: 'a,b' }, { message: { name: ['is invalid'] } }],
      [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    ] as const)
      expect(await world.root.post('/topics', body)).toMatchObject({ status: 400, json })
    const edit = async (changes: object) => (await world.root.put(`/topics/${made.json.id}`, changes)).json
    expect(await edit({ title: null })).toEqual({ ...record, title: null })
    expect(await edit({ description: 'Another' })).toEqual({ ...record, title: null, description: 'Another' })
    expect(await edit({ description: '', title: 'T' })).toMatchObject({ title: 'T', description: '' })
  })

  test('renaming a topic renames it in its projects', async ({ world }) => {
    const [old, fresh, other] = [unique('topic'), unique('topic'), unique('topic')]
    const project = await projectWith(world, [old, other])
    const { id } = await seenBy(world.root, old)
    const topicsOf = async () => (await world.root.get(`/projects/${project.id}`)).json.topics
    expect((await world.root.put(`/topics/${id}`, { name: fresh })).json).toMatchObject({
      name: fresh,
      total_projects_count: 1,
    })
    expect(await topicsOf()).toEqual([fresh, other].sort())
    expect((await world.root.put(`/topics/${id}`, { name: fresh.toUpperCase() })).json).toMatchObject({
      total_projects_count: 1,
    })
    expect(await topicsOf()).toContain(fresh.toUpperCase())
    expect(await world.root.put(`/topics/${id}`, { name: other })).toMatchObject({
      status: 400,
      json: { message: { name: ['has already been taken'] } },
    })
  })

  test('deleting a topic removes it from its projects', async ({ world }) => {
    const [name, other] = [unique('topic'), unique('topic')]
    const project = await projectWith(world, [name, other])
    const { id } = await seenBy(world.root, name)
    expect((await world.root.delete(`/topics/${id}`)).status).toBe(204)
    expect((await world.root.get(`/projects/${project.id}`)).json.topics).toEqual([other])
    expect(await world.root.get(`/topics/${id}`)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await world.root.delete(`/topics/${id}`)).status).toBe(404)
    expect((await world.root.put(`/topics/${id}`, { title: 'x' })).status).toBe(404)
  })

  test('topics have an avatar', async ({ world }) => {
    const form = new FormData()
    form.set('name', unique('topic'))
    form.set('avatar', new File([png], 'me.png'))
    const made = await world.root.send('POST', '/topics', { body: form })
    const url = `${world.origin}/uploads/-/system/topic/avatar/${made.json.id}/me.png`
    expect(made.json.avatar_url).toBe(url)
    const shown = await world.anonymous.bytes(url)
    expect(shown).toMatchObject({ status: 200, headers: { 'content-type': 'image/png' } })
    expect(shown.body.equals(png)).toBe(true)
    expect((await world.root.put(`/topics/${made.json.id}`, { avatar: '' })).json.avatar_url).toBe(null)
    expect((await world.anonymous.bytes(url)).status).toBe(404)
  })

  test('403 for changing topics unless the caller is an administrator', async ({ world }) => {
    const { id } = (await world.root.post('/topics', { name: unique('topic') })).json
    for (const [who, status] of [
      [world.anonymous, 401],
      [await world.user(), 403],
    ] as const) {
      expect((await who.post('/topics', { name: 'x' })).status).toBe(status)
      expect((await who.put(`/topics/${id}`, { title: 'x' })).status).toBe(status)
      expect((await who.delete(`/topics/${id}`)).status).toBe(status)
      expect((await who.get(`/topics/${id}`)).status).toBe(200)
    }
  })
})
