import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { storedProject } from '../../repository/commits/testing.ts'
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

  test('a discussion of a removed line is resolved once it is not removed any more, wherever the target branch moved it', async ({
    world,
  }) => {
    const project = await storedProject(world)
    const { id, repository } = project
    const first = repository.commit({ b: 'one\ntwo\nthree\nfour\n' })
    await world.root.put(`/projects/${id}`, { resolve_outdated_diff_discussions: true })
    const opened = await openMergeRequest(world, { project, files: { b: 'one\nthree\nfour\n' } })
    const position = { ...opened.record.diff_refs, position_type: 'text', new_path: 'b', old_path: 'b', old_line: 2 }
    expect((await world.root.post(`${opened.at}/discussions`, { body: 'Why?', position })).status).toBe(201)
    const ctx = await contextFor(world, world.root)
    let tip = opened.head
    const resolvedAfter = async (text: string, parent: Oid) => {
      const next = repository.commit({ b: text }, { branch: 'scratch', parents: [parent] })
      await pushed(ctx, project, opened.branch, tip, next)
      tip = next
      await afterPush(world, project)
      const { json } = await world.root.get(`${opened.at}/discussions`)
      return json.find(({ notes }: any) => notes[0].resolvable).notes[0].resolved
    }
    expect(await resolvedAfter('one\nthree\n', first)).toBe(false)
    const moved = repository.commit({ b: 'zero\none\ntwo\nthree\nfour\n' })
    expect(await resolvedAfter('zero\none\nthree\nfour\n', moved)).toBe(false)
    expect(await resolvedAfter('zero\none\ntwo\nfour\n', moved)).toBe(true)
  })

  test('without the setting a push resolves no discussion', async ({ world }) => {
    expect(await resolvedAfterPush(world, false)).toEqual([false, false, false])
  })
})
