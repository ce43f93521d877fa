import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { removeUser } from './jobs.ts'

async function remove(world: World, who: Client, hard = false): Promise<void> {
  await world.root.delete(`/users/${who.id}?hard_delete=${hard}`)
  await removeUser.run({ userId: who.id, hard }, await world.app.open(null))
}

/** A merge request with notes and the same award emoji by several users. */
async function withNotesAndAwards(world: World, people: readonly Client[]) {
  const { at } = await openMergeRequest(world)
  const note = (await world.root.post(`${at}/notes`, { body: 'First' })).json
  const awards = [`${at}/award_emoji`, `${at}/notes/${note.id}/award_emoji`]
  for (const who of people) {
    for (const path of awards) await who.post(path, { name: 'tada' })
    await who.post(`${at}/discussions`, { body: 'Hello' })
  }
  await people[0]!.post(awards[0]!, { name: 'rocket' })
  const names = async (path: string) =>
    (await world.root.get(path)).json.map(
      ({ name, user }: { name: string; user: { username: string } }) => `${name} ${user.username}`,
    )
  const notes = async () =>
    (await world.root.get(`${at}/notes?sort=asc`)).json.map(
      ({ author, body }: { author: { username: string }; body: string }) => `${author.username}: ${body}`,
    )
  return { names: () => Promise.all(awards.map(names)), notes }
}

describe('notes and awards of deleted users', () => {
  test('notes and awards of a deleted user go to the ghost user, without duplicate awards', async ({ world }) => {
    const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
    const { names, notes } = await withNotesAndAwards(world, [ann, bob, eve])
    await remove(world, ann)
    await remove(world, bob)
    const left = ['tada ghost', `tada ${eve.username}`]
    expect((await names()).map((each) => each.sort())).toEqual([['rocket ghost', ...left].sort(), [...left].sort()])
    expect(await notes()).toEqual(['root: First', 'ghost: Hello', 'ghost: Hello', `${eve.username}: Hello`])
  })

  test('hard_delete deletes the notes and awards of a user', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { names, notes } = await withNotesAndAwards(world, [ann, bob])
    await remove(world, ann, true)
    expect(await names()).toEqual([[`tada ${bob.username}`], [`tada ${bob.username}`]])
    expect(await notes()).toEqual(['root: First', `${bob.username}: Hello`])
  })
})
