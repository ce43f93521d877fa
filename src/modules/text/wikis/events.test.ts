import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, git, test, unique, type World } from '../../../../test/world.ts'
import { pageOfEvent } from './event-page.ts'
import { edited, type Held, holder, kinds, page, write } from './testing.ts'

describe('events of wikis', () => {
  const kindsOf = async (world: World, held: Held) =>
    (await eventsOf(world, { [held.of]: held.id, kind: 'wiki_page_%' }, 'kind', 'payload')).map(
      ({ kind, payload }) => `${kind} ${payload.path}`,
    )

  test.for(kinds)('requests and pushes to the wiki of a %s emit the same events, once each', async (of, { world }) => {
    const held = await holder(world, of)
    await world.root.post(held.at, { title: 'a', content: 'text of page a, long enough to be found again' })
    await world.root.put(`${held.at}/a`, { content: 'text of page a, long enough to be found again, changed' })
    await world.root.put(`${held.at}/a`, { title: 'b' })
    await world.root.delete(`${held.at}/b`)
    await edited(world, held, (clone) => write(clone, { 'p.md': 'pushed', 'q.md': 'another page', 'x.png': '1' }))
    await edited(world, held, async (clone) => {
      await git(clone, 'mv', 'p.md', 'r.md')
      await git(clone, 'rm', '-q', 'q.md')
    })
    await edited(world, held, (clone) => write(clone, { 'r.md': 'pushed again' }))
    expect(await kindsOf(world, held)).toEqual([
      'wiki_page_created a.md',
      'wiki_page_updated a.md',
      'wiki_page_updated b.md',
      'wiki_page_deleted b.md',
      'wiki_page_created p.md',
      'wiki_page_created q.md',
      'wiki_page_deleted q.md',
      'wiki_page_updated r.md',
      'wiki_page_updated r.md',
    ])
    const all = await eventsOf(world, { [held.of]: held.id, kind: 'wiki_page_%' }, 'payload', 'actor_id')
    expect(new Set(all.slice(0, 4).map(({ payload }) => payload.wiki_page_id)).size).toBe(1)
    expect(all.every(({ actor_id }) => actor_id === world.root.id)).toBe(true)
  })

  test('activity lists show changes of pages to those who read the wiki', async ({ world }) => {
    const held = await holder(world, 'project', 'public')
    const guest = await world.user()
    await world.root.post(`/projects/${held.id}/members`, { user_id: guest.id, access_level: 10 })
    const title = unique('page')
    await world.root.post(held.at, { title, content: 'x' })
    await world.root.put(`${held.at}/${title}`, { content: 'y' })
    await world.root.delete(`${held.at}/${title}`)
    const seen = async (who: Client) =>
      (await who.get(`/projects/${held.id}/events`)).json
        .filter(({ target_type }: { target_type: string }) => target_type === 'WikiPage::Meta')
        .map(({ action_name }: { action_name: string }) => action_name)
    const [event] = (await guest.get(`/projects/${held.id}/events`)).json
    expect(event).toMatchObject({
      action_name: 'destroyed',
      target_type: 'WikiPage::Meta',
      target_id: expect.any(Number),
      target_title: title.replaceAll('-', ' '),
      author_username: world.root.username,
    })
    const all = ['destroyed', 'updated', 'created']
    expect([await seen(guest), await seen(world.anonymous)]).toEqual([all, all])
    await world.root.put(`/projects/${held.id}`, { wiki_access_level: 'private' })
    expect([await seen(guest), await seen(world.anonymous)]).toEqual([all, []])
    await world.root.put(`/projects/${held.id}`, { wiki_access_level: 'disabled' })
    expect([await seen(guest), await seen(world.root)]).toEqual([[], []])
    expect((await guest.get(held.at)).status).toBe(403)
  })

  test('an event leads to the page as it was then, for webhooks', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'docs/a b', content: 'first' })
    await world.root.put(`${held.at}/${page('docs/a-b')}`, { content: 'second' })
    await world.root.delete(`${held.at}/${page('docs/a-b')}`)
    const ctx = await contextFor(world, null)
    const events = await eventsOf(world, { project: held.id, kind: 'wiki_page_%' }, 'payload')
    const pages = await Promise.all(events.map(({ payload }) => pageOfEvent(ctx, payload, held.full_path)))
    const url = `${world.origin}/${held.full_path}/-/wikis/docs/a-b`
    const same = { title: 'a b', slug: 'docs/a-b', format: 'markdown', url }
    const by = world.root.username
    expect(pages).toEqual([
      { ...same, content: 'first', message: `${by} created page: a b` },
      { ...same, content: 'second', message: `${by} updated page: a b` },
      { ...same, content: 'second', message: `${by} updated page: a b` },
    ])
  })

  test('a push of many pages emits 100 events, and all of its pages are there', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    await edited(world, held, (clone) =>
      write(clone, Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`page-${n}.md`, `${n}`]))),
    )
    expect(await kindsOf(world, held)).toHaveLength(101)
    expect((await world.root.get(`${held.at}?per_page=100`)).headers['x-total']).toBe('131')
  })
})
