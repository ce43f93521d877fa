import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { largeForge } from '../../../../test/forge/data.ts'
import { delayOf } from '../../../../test/jobs.ts'
import { forgeImports } from '../../../../test/tables/portability.ts'
import { test } from '../../../../test/world.ts'
import { projectsWithPages } from './pages.ts'
import { forgeOf, importOf, request, runOnce } from './testing.ts'

describe('rate limits of forges', () => {
  test.for([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1200' } }, 1200],
    [
      '403 with the time of the reset',
      {
        status: 403,
        headers: {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': '1700001500',
          date: new Date(1_700_000_000_000).toUTCString(),
        },
      },
      1500,
    ],
    ['a reset in a thousand years', { status: 429, headers: { 'retry-after': '999999999' } }, 3900],
  ] as const)(
    'an import waits without a slot, and goes on after the last page: %s',
    async ([, limit, seconds], { world }) => {
      await using forge = await forgeOf(world, 'github', largeForge(250, 2))
      const zoe = await world.user()
      const { json } = await request(zoe, forge)
      const key = `import_from_forge:${json.id}`
      let limits = 1
      forge.choose = (path) =>
        path.includes('/issues?') && path.includes('page=2') && limits-- > 0 ? limit : undefined
      expect(await runOnce(world, json.id)).toBe(true)
      expect((await zoe.get(`/projects/${json.id}/import`)).json).toMatchObject({ import_status: 'started' })
      expect(await delayOf(world, key)).toEqual({ seconds, isHeld: false })
      while (await runOnce(world, json.id));
      expect((await zoe.get(`/projects/${json.id}/import`)).json).toMatchObject({
        import_status: 'finished',
        stats: { imported: { issue: 250, pull_request: 2, note: 252 } },
      })
      // The first page was not asked for again.
      expect(
        forge.asked.filter((path) => /\/issues\?/.test(path) && !path.includes('page=2') && !path.includes('page=3')),
      ).toHaveLength(1)
    },
  )

  test('an import that never gets further is given up with the reason', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const zoe = await world.user()
    const made = (await request(zoe, forge)).json
    forge.choose = (path) => (path.includes('/milestones') ? { status: 502, body: 'Bad gateway' } : undefined)
    let runs = 0
    while (await runOnce(world, made.id)) runs++
    // The first one read a page.
    expect(runs).toBe(11)
    expect((await zoe.get(`/projects/${made.id}/import`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The forge answered with status 502, when it was asked for milestones',
    })
    expect(await forgeImports(world, made.id)).toEqual([])
    expect(await projectsWithPages(await contextFor(world, null))).not.toContain(made.id)
  })

  test('a forge that stops answering after the last page ends the import, too', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const zoe = await world.user()
    const made = (await request(zoe, forge)).json
    forge.choose = (path) => (path.endsWith('/repos/ann/code') ? { status: 503 } : undefined)
    let runs = 0
    while (await runOnce(world, made.id)) runs++
    expect(runs).toBeLessThan(15)
    expect((await zoe.get(`/projects/${made.id}/import`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The forge answered with status 503',
    })
  })

  test('a repository that the token may no longer read ends the import with the answer of the forge', async ({
    world,
  }) => {
    await using forge = await forgeOf(world, 'github')
    forge.choose = (path) => (path.endsWith('/repos/ann/code') ? { status: 404 } : undefined)
    const zoe = await world.user()
    const { id, state } = await importOf(world, zoe, forge)
    expect(state).toMatchObject({ import_status: 'failed', import_error: 'The forge answered with status 404' })
    expect(await forgeImports(world, id)).toEqual([])
  })

  test('an import goes on after the forge has failed to send the code', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    let failures = 6
    forge.choose = (path) => (path.includes('/info/refs') && failures-- > 0 ? { status: 502 } : undefined)
    const zoe = await world.user()
    const { state } = await importOf(world, zoe, forge)
    expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { issue: 2 } } })
    expect(failures).toBeLessThan(0)
  })

  test('with the optimistic strategy, a list that the forge cannot give is left out', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    forge.choose = (path) => (path.includes('/milestones') ? { status: 502, body: 'Bad gateway' } : undefined)
    const zoe = await world.user()
    const { state } = await importOf(world, zoe, forge, { timeout_strategy: 'optimistic' })
    expect(state).toMatchObject({ import_status: 'finished', stats: { imported: { issue: 2 } } })
    expect(state.failed_relations).toContainEqual(
      expect.objectContaining({
        relation_name: 'milestone',
        exception_message: 'milestones: The forge answered with status 502',
      }),
    )
  })

  test('a part that the forge has disabled is empty, and one that it forbids is reported', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    forge.choose = (path) =>
      path.includes('/releases')
        ? { status: 403, body: '{"message":"Resource not accessible"}' }
        : path.includes('/labels')
          ? { status: 410 }
          : undefined
    const zoe = await world.user()
    const { state } = await importOf(world, zoe, forge)
    expect(state).toMatchObject({
      import_status: 'finished',
      failed_relations: [
        { relation_name: 'release', exception_message: 'releases: The forge answered with status 403' },
      ],
    })
  })
})

describe('cancelling', () => {
  test.for([
    ['github', 'gitea'],
    ['gitea', 'github'],
  ] as const)('a canceled import from %s leaves nothing but its reason', async ([name, other], { world }) => {
    await using forge = await forgeOf(world, name)
    const cancel = `/import/${name}/cancel`
    const [zoe, ben] = [await world.user(), await world.user()]
    const { json } = await request(zoe, forge)
    expect((await ben.post(cancel, { project_id: json.id })).status).toBe(404)
    forge.choose = (path) => (path.includes('/releases') ? { status: 429 } : undefined)
    await runOnce(world, json.id)
    expect((await zoe.post(`/import/${other}/cancel`, { project_id: json.id })).status).toBe(400)
    expect(await zoe.post(cancel, { project_id: json.id })).toMatchObject({
      status: 200,
      json: { id: json.id, import_source: 'ann/code', import_status: 'canceled' },
    })
    expect((await zoe.get(`/projects/${json.id}/import`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The import was canceled.',
    })
    expect(await forgeImports(world, json.id)).toEqual([])
    forge.choose = () => undefined
    while (await runOnce(world, json.id));
    expect((await zoe.get(`/projects/${json.id}/issues`)).json).toEqual([])
    expect((await zoe.post(cancel, { project_id: json.id })).status).toBe(400)
  })

  test('an import that is canceled while it runs ends without content', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const zoe = await world.user()
    const { json } = await request(zoe, forge)
    forge.before = async (path) => {
      if (path.includes('/releases')) await zoe.post('/import/github/cancel', { project_id: json.id })
    }
    while (await runOnce(world, json.id));
    expect((await zoe.get(`/projects/${json.id}/import`)).json).toMatchObject({ import_status: 'failed' })
    expect((await zoe.get(`/projects/${json.id}/issues`)).json).toEqual([])
    expect(await projectsWithPages(await contextFor(world, null))).not.toContain(json.id)
  })
})
