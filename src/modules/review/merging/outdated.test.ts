import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, pushed } from './testing.ts'

/** Discussions of lines 1 and 3 of a new file; then a push replaces the first line. Returns which are resolved. */
async function resolvedAfterPush(world: World, resolves: boolean): Promise<boolean[]> {
  const opened = await openMergeRequest(world, { files: { b: 'one\ntwo\nthree\n' } })
  const { project, at, head, branch, record } = opened
  await world.root.put(`/projects/${project.id}`, { resolve_outdated_diff_discussions: resolves })
  const place = { ...record.diff_refs, position_type: 'text', new_path: 'b', old_path: 'b' }
  for (const new_line of [1, 3])
    expect(
      (await world.root.post(`${at}/discussions`, { body: `${new_line}`, position: { ...place, new_line } })).status,
    ).toBe(201)
  await world.root.post(`${at}/discussions`, { body: 'of no line' })
  const next = project.repository.commit({ b: 'ONE\ntwo\nthree\n' }, { branch: 'scratch', parents: [head] })
  await pushed(await contextFor(world, world.root), project, branch, head, next)
  await afterPush(world, project)
  const { json } = await world.root.get(`${at}/discussions`)
  return json.filter(({ notes }: any) => notes[0].resolvable).map(({ notes }: any) => notes[0].resolved)
}

describe('resolve_outdated_diff_discussions', () => {
  test('a push that changes a line resolves its discussion, and no others', async ({ world }) => {
    expect(await resolvedAfterPush(world, true)).toEqual([true, false, false])
  })

  test('without the setting a push resolves no discussion', async ({ world }) => {
    expect(await resolvedAfterPush(world, false)).toEqual([false, false, false])
  })
})
