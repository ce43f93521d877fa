import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'

const discuss = async (who: Client, { at }: OpenedMergeRequest, body: string): Promise<string> => {
  const made = await who.post(`${at}/discussions`, { body })
  expect(made.status).toBe(201)
  return made.json.id
}

const isResolved = async (who: Client, { at }: OpenedMergeRequest, id: string): Promise<boolean> =>
  (await who.get(`${at}/discussions/${id}`)).json.notes[0].resolved

const create = (who: Client, { project, iid }: OpenedMergeRequest, more: object = {}) =>
  who.post(`/projects/${project.id}/issues`, {
    title: 'Later',
    merge_request_to_resolve_discussions_of: iid,
    ...more,
  })

describe('an issue that continues discussions of a merge request', () => {
  test('lists all unresolved discussions in its description, and resolves them', async ({ world }) => {
    const request = await openMergeRequest(world)
    const [first, second] = [
      await discuss(world.root, request, 'Why?\nHow?'),
      await discuss(world.root, request, 'When?'),
    ]
    const reply = await world.root.post(`${request.at}/discussions/${second}/notes`, { body: 'Soon' })
    expect(reply.status).toBe(201)
    const { status, json } = await create(world.root, request)
    expect(status).toBe(201)
    const page = `${world.origin}/${request.project.full_path}/-/merge_requests/1`
    const description: string = json.description
    expect(description.replaceAll(/#note_\d+/g, '#note')).toBe(
      [
        'The following discussions from !1 should be addressed:',
        `- [ ] @root started a [discussion](${page}#note):`,
        '    > Why?\n    > How?',
        `- [ ] @root started a [discussion](${page}#note): (+1 comment)`,
        '    > When?',
      ].join('\n\n'),
    )
    expect(json.task_completion_status).toEqual({ count: 2, completed_count: 0 })
    for (const id of [first, second]) expect(await isResolved(world.root, request, id)).toBe(true)
    expect((await create(world.root, request)).json.description).toBe('There are no unresolved discussions')
  })

  test('continues only the discussion that is named, with the description of the caller', async ({ world }) => {
    const request = await openMergeRequest(world)
    const [first, second] = [await discuss(world.root, request, 'Why?'), await discuss(world.root, request, 'When?')]
    const made = await create(world.root, request, { discussion_to_resolve: second, description: 'Mine' })
    expect(made.json.description).toBe('Mine')
    expect([await isResolved(world.root, request, first), await isResolved(world.root, request, second)]).toEqual([
      false,
      true,
    ])
  })

  test('quotes the beginning of long notes, so that the description of many is within its limit', async ({ world }) => {
    const request = await openMergeRequest(world)
    for (const body of [`1${'\n'.repeat(600_000)}2`, `3${'a\n'.repeat(300_000)}4`, '🎉'.repeat(1000)])
      await discuss(world.root, request, body)
    const { status, json } = await create(world.root, request)
    expect(status).toBe(201)
    expect(json.description).toContain('    > 1\n')
    expect(json.description).toContain(' …')
    expect(json.description).not.toMatch(/[24]$/m)
    expect(json.description.endsWith(`    > ${'🎉'.repeat(1000)}`)).toBe(true)
    expect(json.description.length).toBeLessThan(20_000)
  })

  test('leaves discussions open that the caller may not resolve, and shows nothing of a merge request they cannot read', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const request = await openMergeRequest(world, {
      members: [
        [ann, 'reporter'],
        [bob, 'guest'],
      ],
    })
    await world.root.put(`/projects/${request.project.id}`, { merge_requests_access_level: 'private' })
    const id = await discuss(world.root, request, 'Why?')
    expect((await create(ann, request)).json.description).toContain('Why?')
    expect((await create(bob, request)).json.description).toBe(null)
    expect(await isResolved(world.root, request, id)).toBe(false)
  })
})
