import { describe, expect, test as plain } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { imageAt, ociManifest, Registry, repositoryOf } from '../../../edges/registry/testing.ts'
import { lockRepository } from '../images/queries.ts'
import { deleteTagsInBulk } from './jobs.ts'
import { parseDuration } from './older-than.ts'

/** A repository with tags by name, each of an image built that number of days ago; null for an image without a date. */
async function repositoryWith(world: World, tags: Record<string, number | null>) {
  const project = await world.project()
  const registry = await Registry.open(world.root, imageAt(project))
  for (const [tag, days] of Object.entries(tags)) {
    const created = days === null ? undefined : new Date(Date.now() - days * 86_400_000).toISOString()
    await registry.image(tag, { layer: tag, ...(created !== undefined && { created }) })
  }
  const { id } = await repositoryOf(world, project)
  return { project, registry, tagsAt: `/projects/${project.id}/registry/repositories/${id}/tags` }
}

async function deleteTags(world: World, tags: Record<string, number | null>, query: string): Promise<string[]> {
  const { registry, tagsAt } = await repositoryWith(world, tags)
  const answer = await world.root.delete(`${tagsAt}?${query}`)
  expect([answer.status, answer.text]).toEqual([202, '202'])
  await world.runJobs()
  await expect.poll(() => world.jobs('delete_container_tags:%')).toEqual([])
  return registry.tags()
}

describe('DELETE /projects/:id/registry/repositories/:repository_id/tags', () => {
  test('D2-BULK-REGEX D2-BULK-LATEST: whole names that match are deleted, `latest` never', async ({ world }) => {
    const tags = { 'v1.0': 1, 'v1.0-rc': 1, latest: 1, other: 1 }
    expect(await deleteTags(world, tags, 'name_regex=v1[.]0')).toEqual(['latest', 'other', 'v1.0-rc'])
  })

  test('name_regex_delete alone is enough', async ({ world }) => {
    expect(await deleteTags(world, { a: 1, b: 1 }, 'name_regex_delete=a')).toEqual(['b'])
  })

  test('`.*` deletes all tags but `latest`', async ({ world }) => {
    expect(await deleteTags(world, { a: 1, b: null, latest: 1 }, 'name_regex=.*')).toEqual(['latest'])
  })

  test('name_regex_delete takes precedence, and name_regex_keep protects tags', async ({ world }) => {
    const query = 'name_regex=none&name_regex_delete=[ab].*&name_regex_keep=.*-keep'
    expect(await deleteTags(world, { a: 1, 'b-keep': 1, c: 1 }, query)).toEqual(['b-keep', 'c'])
  })

  test('D2-BULK-ORDER D2-BULK-KEEP-N: the newest images stay, whatever was pushed last; none without a date', async ({
    world,
  }) => {
    const tags = { undated: null, new: 1, middle: 5, old: 9 }
    expect(await deleteTags(world, tags, 'name_regex=.*&keep_n=2')).toEqual(['new', 'undated'])
  })

  test('D2-BULK-OLDER-THAN: only images built before that are deleted, and none without a date', async ({ world }) => {
    const tags = { undated: null, new: 1, old: 9 }
    expect(await deleteTags(world, tags, 'name_regex=.*&older_than=3%20days%202h')).toEqual(['new', 'undated'])
  })

  test('an unreadable older_than deletes nothing', async ({ world }) => {
    expect(await deleteTags(world, { old: 9 }, 'name_regex=.*&older_than=3%20moons')).toEqual(['old'])
  })

  test('a tag of the same image as a tag that stays is not deleted', async ({ world }) => {
    const { registry, tagsAt } = await repositoryWith(world, { a: 1, b: 1 })
    const { text } = await registry.send('GET', 'manifests/a')
    await registry.putManifest('latest', text, ociManifest)
    await world.root.delete(`${tagsAt}?name_regex=.*`)
    await world.runJobs()
    await expect.poll(() => registry.tags()).toEqual(['a', 'latest'])
  })

  test('D2-BULK-HOURLY: 400 for a second run in the same repository within an hour', async ({ world }) => {
    const { tagsAt } = await repositoryWith(world, { a: 1 })
    const other = await repositoryWith(world, { a: 1 })
    for (const at of [tagsAt, other.tagsAt]) expect((await world.root.delete(`${at}?name_regex=x`)).status).toBe(202)
    expect(await world.root.delete(`${tagsAt}?name_regex=x`)).toMatchObject({
      status: 400,
      json: {
        message:
          'This request has already been made. You can run this at most once an hour for a given container repository',
      },
    })
  })

  test('400 without a regular expression, or with an invalid or slow one, which does not count as a run', async ({
    world,
  }) => {
    const { tagsAt } = await repositoryWith(world, { a: 1 })
    expect(await world.root.delete(tagsAt)).toMatchObject({ status: 400, json: { error: 'name_regex is missing' } })
    expect(await world.root.delete(`${tagsAt}?name_regex=%5B`)).toMatchObject({
      status: 400,
      json: { message: { name_regex: ['is an invalid regexp'] } },
    })
    expect((await world.root.delete(`${tagsAt}?name_regex=x&name_regex_keep=(`)).status).toBe(400)
    expect((await world.root.delete(`${tagsAt}?name_regex=${'x'.repeat(300)}`)).status).toBe(400)
    for (const slow of [`${'(.{1,999})?'.repeat(22)}z`, `${'((a{1,31}){1,31})?'.repeat(12)}z`])
      expect(await world.root.delete(`${tagsAt}?name_regex=${encodeURIComponent(slow)}`)).toMatchObject({
        status: 400,
        json: { message: { name_regex: ['is an invalid regexp'] } },
      })
    expect((await world.root.delete(`${tagsAt}?name_regex=x&keep_n=-1`)).status).toBe(400)
    expect((await world.root.delete(`${tagsAt}?name_regex=x`)).status).toBe(202)
  })

  test('400 for an empty regular expression, which would delete nothing or protect nothing, and does not count as a run', async ({
    world,
  }) => {
    const { registry, tagsAt } = await repositoryWith(world, { a: 1 })
    for (const [query, error] of [
      ['name_regex=', 'name_regex is empty'],
      ['name_regex_delete=', 'name_regex is empty, name_regex_delete is empty'],
      ['name_regex=.*&name_regex_delete=', 'name_regex_delete is empty'],
      ['name_regex=.*&name_regex_keep=', 'name_regex_keep is empty'],
      ['name_regex=.*&name_regex_keep=%20', 'name_regex_keep is empty'],
    ])
      expect.soft(await world.root.delete(`${tagsAt}?${query}`), query).toMatchObject({ status: 400, json: { error } })
    expect((await world.root.delete(`${tagsAt}?name_regex=x`)).status).toBe(202)
    await world.runJobs()
    expect(await registry.tags()).toEqual(['a'])
  })

  test.for([
    ['keep_n=', ['latest']],
    ['keep_n=0', ['latest']],
    ['keep_n=1', ['latest', 'new']],
    ['keep_n=9', ['latest', 'new', 'old']],
    ['keep_n=1&name_regex_keep=new', ['latest', 'new', 'old']],
    ['older_than=', ['latest', 'new', 'old']],
    ['older_than=0d', ['latest']],
    ['older_than=3d&keep_n=1', ['latest', 'new']],
    ['older_than=3d&keep_n=2', ['latest', 'new', 'old']],
  ] as const)('`.*` with %s leaves the tags %j of latest, new and old', async ([query, left], { world }) => {
    expect(await deleteTags(world, { latest: 5, new: 1, old: 9 }, `name_regex=.*&${query}`)).toEqual(left)
  })

  test.for([
    ['a', ['a', 'b']],
    ['a|b', []],
  ] as const)(
    'of two tags `a` and `b` of one image the expression %s leaves %j',
    async ([expression, left], { world }) => {
      const { registry, tagsAt } = await repositoryWith(world, { a: 1 })
      const { text } = await registry.send('GET', 'manifests/a')
      await registry.putManifest('b', text, ociManifest)
      expect((await world.root.delete(`${tagsAt}?name_regex=${encodeURIComponent(expression)}`)).status).toBe(202)
      await world.runJobs()
      await expect.poll(() => world.jobs('delete_container_tags:%')).toEqual([])
      expect(await registry.tags()).toEqual(left)
    },
  )

  test.for([
    [
      'who is no maintainer any more',
      (world, at, ann) => world.root.put(`${at}/members/${ann.id}`, { access_level: 30 }),
    ],
    ['who is blocked', (world, _at, ann) => world.root.post(`/users/${ann.id}/block`)],
    ['whose project is archived', (world, at) => world.root.post(`${at}/archive`)],
  ] satisfies [string, (world: World, at: string, ann: Client) => Promise<{ status: number }>][])(
    'nothing is deleted for a user %s when the job runs',
    async ([, lose], { world }) => {
      const { project, registry, tagsAt } = await repositoryWith(world, { a: 1 })
      const ann = await world.user()
      const at = `/projects/${project.id}`
      await world.root.post(`${at}/members`, { user_id: ann.id, access_level: 40 })
      expect((await ann.delete(`${tagsAt}?name_regex=.*`)).status).toBe(202)
      expect((await lose(world, at, ann)).status).toBeLessThan(300)
      await world.runJobs()
      await expect.poll(() => world.jobs('delete_container_tags:%')).toEqual([])
      expect(await registry.tags()).toEqual(['a'])
    },
  )

  test('nothing is deleted for a user who loses the role while the job waits for the repository', async ({ world }) => {
    const { project, registry, tagsAt } = await repositoryWith(world, { a: 1 })
    const ann = await world.user()
    const members = `/projects/${project.id}/members`
    await world.root.post(members, { user_id: ann.id, access_level: 40 })
    expect((await ann.delete(`${tagsAt}?name_regex=.*`)).status).toBe(202)
    const { id } = await repositoryOf(world, project)
    const [waiting] = await world.takeJobs(`delete_container_tags:${id}`)
    const ctx = await world.app.open(null)
    const { run } = await world.db.transaction(async (tx) => {
      await lockRepository(tx, id)
      const run = deleteTagsInBulk.run(waiting!.payload, ctx)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      expect((await world.root.delete(`${members}/${ann.id}`)).status).toBe(204)
      // In an object, because the transaction must end before the job can.
      return { run }
    })
    await run
    expect(await registry.tags()).toEqual(['a'])
  })

  test('tags that are pushed or moved after the request count as they are when the job runs', async ({ world }) => {
    const { registry, tagsAt } = await repositoryWith(world, { moved: 9, old: 9 })
    expect((await world.root.delete(`${tagsAt}?name_regex=.*&older_than=3d`)).status).toBe(202)
    await registry.image('moved', { layer: 'again', created: new Date().toISOString() })
    await registry.image('late', { layer: 'late', created: '2020-01-01T00:00:00Z' })
    await world.runJobs()
    await expect.poll(() => registry.tags()).toEqual(['moved'])
  })

  test('an expression that takes exponential time elsewhere finds its tags', async ({ world }) => {
    const long = 'a'.repeat(120)
    const left = await deleteTags(world, { [`${long}b`]: 1, [long]: 1 }, `name_regex=${encodeURIComponent('(a+)+')}`)
    expect(left).toEqual([`${long}b`])
  })

  test('deleted tags can be restored', async ({ world }) => {
    const { registry, tagsAt } = await repositoryWith(world, { a: 1 })
    await world.root.delete(`${tagsAt}?name_regex=.*`)
    await world.runJobs()
    await expect.poll(() => registry.tags()).toEqual([])
    expect((await (world.root as Client).post(`${tagsAt}/a/restore`)).status).toBe(201)
    expect(await registry.tags()).toEqual(['a'])
  })
})

plain.for([
  ['90s', 90_000],
  ['1m', 60_000],
  ['2 min', 120_000],
  ['1h', 3_600_000],
  ['1.5 hours', 5_400_000],
  ['1d', 86_400_000],
  ['1 day 2 hours', 93_600_000],
  ['2wks', 1_209_600_000],
  ['1month', 2_592_000_000],
  ['1 mo, 1 yr', 2_592_000_000 + 31_536_000_000],
  ['', undefined],
  ['1', undefined],
  ['d', undefined],
  ['1 fortnight', undefined],
  ['1d nonsense', undefined],
  ['-1d', undefined],
  ['x'.repeat(200), undefined],
] as const)('the duration %j has %s ms', ([text, ms]) => {
  expect(parseDuration(text)).toBe(ms)
})
