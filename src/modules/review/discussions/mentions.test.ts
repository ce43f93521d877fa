import { describe, expect } from 'vitest'
import { mentionedOn } from '../../../../test/tables/discussion.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** The action of the user's todo for a merge request; undefined without one. */
const todoAction = async (who: Client): Promise<string | undefined> => (await who.get('/todos')).json[0]?.action_name

const participants = async (world: World, id: number): Promise<number[]> =>
  (await mentionedOn(world, id)).map(({ user_id }) => user_id)

describe('mentions of users', () => {
  test('a mentioned user gets a todo: directly addressed or mentioned', async ({ world }) => {
    const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
    const { at, id } = await openMergeRequest(world)
    const body = `@${ann.username}, ask @${bob.username.toUpperCase()}; not \`@${eve.username}\` nor @no-such-user.`
    const { json } = await world.root.post(`${at}/notes`, { body })
    expect(await todoAction(ann)).toBe('directly_addressed')
    expect(await todoAction(bob)).toBe('mentioned')
    expect(await todoAction(eve)).toBeUndefined()
    expect((await ann.get('/todos')).json).toMatchObject([
      { author: { id: 1 }, body, target_url: expect.stringMatching(`/-/merge_requests/1#note_${json.id}$`) },
    ])
    expect(await participants(world, id)).toEqual([ann.id, bob.id])
  })

  test('only users who can read the merge request get a todo for a mention', async ({ world }) => {
    const [guest, reporter, stranger, blocked] = [
      await world.user(),
      await world.user(),
      await world.user(),
      await world.user(),
    ]
    const { at, id, project } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
        [blocked, 'reporter'],
      ],
    })
    await world.root.post(`/users/${blocked.id}/block`)
    const body = [guest, reporter, stranger, blocked].map(({ username }) => `@${username}`).join(' ')
    await world.root.post(`${at}/notes`, { body })
    expect(await participants(world, id)).toEqual([reporter.id])
    expect(await todoAction(stranger)).toBeUndefined()
    // Visible to all signed-in users who are not external.
    const external = await world.user({ external: true })
    await changeProject(world, project.id, { visibility: 10 })
    await world.root.post(`${at}/notes`, { body: `${body} @${external.username}` })
    expect(await participants(world, id)).toEqual([guest.id, reporter.id, stranger.id])
    // For members only.
    await changeProject(world, project.id, { merge_requests_access_level: 10 })
    const other = await openMergeRequest(world, { project, branch: 'other' })
    await world.root.post(`${other.at}/notes`, { body })
    expect(await participants(world, other.id)).toEqual([reporter.id])
  })

  test('a mention of a group notifies its members who can read the merge request', async ({ world }) => {
    const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
    const parent = await world.group({ visibility: 'private', members: [[bob, 'developer']] })
    const group = await world.group({
      visibility: 'public',
      members: [
        [ann, 'guest'],
        [eve, 'guest'],
      ],
    })
    const { at, id, project } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [ann, 'reporter'],
        [bob, 'reporter'],
      ],
    })
    expect(
      (await ann.post(`${at}/notes`, { body: `@${group.full_path.toUpperCase()} and @${parent.full_path}` })).status,
    ).toBe(201)
    // The administrator is a member of both. `ann` cannot see the other group, `eve` cannot read the merge request, and no one gets a todo for their own note.
    expect(await participants(world, id)).toEqual([world.root.id, ann.id])
    await bob.post(`${at}/notes`, { body: `@${group.full_path} @${parent.full_path} @${ann.username}` })
    expect(await participants(world, id)).toEqual([world.root.id, ann.id, bob.id])
    expect(await todoAction(ann)).toBe('directly_addressed')
    expect(await todoAction(eve)).toBeUndefined()
    expect(await todoAction(bob)).toBeUndefined()
    const other = await openMergeRequest(world, { project, branch: 'other' })
    await world.root.put(`/groups/${group.id}`, { mentions_disabled: true })
    await bob.post(`${other.at}/notes`, { body: `@${group.full_path}` })
    expect(await participants(world, other.id)).toEqual([])
  })

  test('a mention adds one todo despite edits, and removing it ends the participation', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { at, id } = await openMergeRequest(world)
    const { json } = await world.root.post(`${at}/notes`, { body: `For @${ann.username}` })
    const done = async (who: Client) => who.post('/todos/mark_as_done')
    await done(ann)
    await world.root.put(`${at}/notes/${json.id}`, { body: `For @${ann.username} and @${bob.username}` })
    expect(await todoAction(ann)).toBeUndefined()
    expect(await todoAction(bob)).toBe('mentioned')
    await world.root.put(`${at}/notes/${json.id}`, { body: `For @${bob.username}` })
    expect(await participants(world, id)).toEqual([bob.id])
    await world.root.delete(`${at}/notes/${json.id}`)
    expect(await participants(world, id)).toEqual([])
    expect((await bob.get('/todos')).json).toMatchObject([{ body: 'Merge topic' }])
  })

  test('users who mention themselves get no todo and participate', async ({ world }) => {
    const ann = await world.user()
    const { at, id } = await openMergeRequest(world)
    await ann.post(`${at}/notes`, { body: `I, @${ann.username}` })
    expect(await todoAction(ann)).toBeUndefined()
    expect(await participants(world, id)).toEqual([ann.id])
  })
})
