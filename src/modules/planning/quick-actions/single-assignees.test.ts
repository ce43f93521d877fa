import { expect, test } from 'vitest'
import { World } from '../../../../test/world.ts'
import { openIssue } from '../issues/testing.ts'

test('on a plan with single assignees quick actions assign the first user that they name, and report no other', async () => {
  await using world = await World.start({ STITHY_PLAN: 'free' })
  const [ann, bob] = [await world.user(), await world.user()]
  const { at } = await openIssue(world)
  const names = `@${bob.username} @${ann.username}`
  for (const [body, says, assigned] of [
    [`/assign ${names}`, [`Assigned @${bob.username}.`], bob],
    [`/assign @${bob.username}\n/assign @${ann.username}`, expect.anything(), ann],
    [`/reassign ${names}`, [`Changed assignees to @${bob.username}.`], bob],
    [`/unassign\n/assign ${names}`, expect.anything(), bob],
  ] as const) {
    expect(await world.root.post(`${at}/notes`, { body }), body).toMatchObject({ status: 202, json: { summary: says } })
    expect((await world.root.get(at)).json.assignees, body).toMatchObject([{ id: assigned.id }])
  }
})
