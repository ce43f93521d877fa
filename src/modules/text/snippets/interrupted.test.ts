import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { ago } from '../../../../test/tables/statements.ts'
import { changeSnippet, snippetIds } from '../../../../test/tables/text.ts'
import { test, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { createSideRepository } from '../../pushes/index.ts'
import { insertSnippet } from './edit-queries.ts'
import { commitFiles, holderOf } from './files.ts'
import { refreshSnippetJob, removeIncompleteSnippets } from './refresh.ts'
import { createSnippet } from './service.ts'

/** A snippet as its creation leaves it before the first commit. */
async function begun(world: World) {
  const ann = await world.user()
  const { id: projectId } = await world.project({ visibility: 'public', members: [[ann, 'reporter']] })
  const ctx = await contextFor(world, ann)
  const id = await ctx.transaction(async (tx) => {
    const made = (await insertSnippet(tx, {
      projectId,
      authorId: ann.id,
      title: 'Begun',
      description: `For @${world.root.username}`,
      visibility: 20,
    }))!
    await createSideRepository(tx, holderOf(made))
    return made
  })
  return { ann, ctx, id, projectId, at: `/projects/${projectId}/snippets/${id}` }
}

describe('the creation of a snippet that a crash interrupts', () => {
  test('no one sees a snippet without its first commit, and a job deletes it after a day', async ({ world }) => {
    const { ann, ctx, id, projectId, at } = await begun(world)
    expect((await ann.get(at)).status).toBe(404)
    expect((await ann.get(`/projects/${projectId}/snippets`)).json).toEqual([])
    await removeIncompleteSnippets.run({}, ctx)
    expect(await snippetIds(world, projectId)).toEqual([{ id }])
    await changeSnippet(world, id, { created_at: ago('25 hours') })
    await removeIncompleteSnippets.run({}, ctx)
    expect(await snippetIds(world, projectId)).toEqual([])
  })

  test('a snippet that a job has completed remains when the request that creates it fails afterwards', async ({
    world,
  }) => {
    const ann = await world.user()
    const { id: projectId } = await world.project({ visibility: 'public', members: [[ann, 'reporter']] })
    const ctx = await contextFor(world, ann)
    const failing: Ctx = {
      ...ctx,
      async transaction(work) {
        const queued = await world.takeJobs('refresh_snippet:%')
        for (const { payload } of queued) await refreshSnippetJob.run(payload, await world.app.open(null))
        if (queued.length > 0) throw new Error('the connection broke')
        return ctx.transaction(work)
      },
    }
    const files = { fileName: 'a', content: 'x' }
    const made = createSnippet(failing, projectId, { title: 'Mine', visibility: 'private', files })
    await expect(made).rejects.toThrow('the connection broke')
    expect((await ann.get(`/projects/${projectId}/snippets`)).json).toMatchObject([{ title: 'Mine' }])
  })

  test('a job completes a snippet whose first commit is made, once', async ({ world }) => {
    const { ann, ctx, id, projectId, at } = await begun(world)
    await commitFiles(ctx, id, { fileName: 'a', content: 'x' }, 'Initial commit')
    const queued = await world.takeJobs(`refresh_snippet:${id}`)
    expect(queued).toHaveLength(1)
    for (const { payload } of [...queued, ...queued]) await refreshSnippetJob.run(payload, await world.app.open(null))
    expect((await ann.get(at)).json).toMatchObject({ title: 'Begun', files: [{ path: 'a' }] })
    expect(await eventsOf(world, { project: projectId, kind: 'snippet_%' }, 'kind')).toEqual([
      { kind: 'snippet_created' },
    ])
  })
})
