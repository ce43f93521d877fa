import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { cleanTitle } from '../../discussion/noteables/texts.ts'
import { openMergeRequest } from './testing.ts'

describe('drafts', () => {
  test.for(['Draft: x', '[Draft] x', '(Draft) x', 'draft: x', 'WIP: x', '[WIP] x'])(
    'a merge request titled %j is a draft and does not merge',
    async (title, { world }) => {
      const { at, record } = await openMergeRequest(world, { title })
      expect(record).toMatchObject({ title, draft: true, work_in_progress: true })
      expect((await world.root.put(`${at}/merge`)).status).toBe(405)
      expect((await world.root.put(at, { title: 'x' })).json).toMatchObject({ draft: false, work_in_progress: false })
      expect((await world.root.put(`${at}/merge`)).json).toMatchObject({ state: 'merged' })
    },
  )

  test('the attribute draft adds the prefix to the title, and removes every prefix of a draft', async ({ world }) => {
    const { at, record } = await openMergeRequest(world, { title: 'x', draft: true })
    expect(record).toMatchObject({ title: 'Draft: x', draft: true })
    expect((await world.root.put(at, { draft: true })).json.title).toBe('Draft: x')
    expect((await world.root.put(at, { draft: false })).json).toMatchObject({ title: 'x', draft: false })
    expect((await world.root.put(at, { title: 'WIP: [Draft] y', draft: false })).json.title).toBe('y')
    expect((await world.root.put(at, { draft: true })).json.title).toBe('Draft: y')
    expect((await world.root.put(at, { title: 'Draft: ', draft: false })).status).toBe(400)
  })

  test.for([
    ['a byte order mark', '\uFEFFDraft: x'],
    ['a next line character', '\u0085Draft: x'],
    ['a no-break space', 'WIP\u00A0x'],
  ] as const)('a title with %s is a draft in its record and in the filter draft', async ([, title], { world }) => {
    const { project, record } = await openMergeRequest(world, { title })
    expect(record).toMatchObject({ title: cleanTitle(title), draft: true, detailed_merge_status: 'draft_status' })
    const listed = (await world.root.get(`/projects/${project.id}/merge_requests?draft=true`)).json
    expect(listed).toMatchObject([{ title: cleanTitle(title) }])
  })

  test('the filter draft selects drafts or other merge requests, as the filter wip does', async ({ world }) => {
    const { project, iid: plain } = await openMergeRequest(world)
    const { iid: draft } = await openMergeRequest(world, { project, branch: 'second', title: '(draft) y' })
    const listed = async (query: string) =>
      (await world.root.get(`/projects/${project.id}/merge_requests?${query}`)).json.map(
        ({ iid }: { iid: number }) => iid,
      )
    for (const query of ['draft=true', 'wip=yes']) expect(await listed(query)).toEqual([draft])
    for (const query of ['draft=false', 'wip=no']) expect(await listed(query)).toEqual([plain])
  })
})
