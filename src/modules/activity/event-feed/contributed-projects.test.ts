import { expect } from 'vitest'
import { addActivity } from '../../../../test/tables/events.ts'
import { type Client, type TestProject, test } from '../../../../test/world.ts'

test('contributed projects are those with events that the caller can see', async ({ world }) => {
  const [ann, guest] = [await world.user(), await world.user()]
  const members = [
    [ann, 'developer'],
    [guest, 'guest'],
  ] as const
  const make = (visibility: 'public' | 'private') =>
    world.project({ visibility, initialize_with_readme: true, members: members as never })
  const [open, closed] = [await make('public'), await make('private')]
  // Joining is not a contribution.
  await make('public')
  for (const { id } of [open, closed])
    expect((await ann.post(`/projects/${id}/repository/commits/HEAD/comments`, { note: 'Good' })).status).toBe(201)
  const ids = async (who: Client) =>
    (await who.get(`/users/${ann.username}/contributed_projects?sort=asc`)).json.map(({ id }: TestProject) => id)
  expect(await ids(ann)).toEqual([open.id, closed.id])
  expect(await ids(world.anonymous)).toEqual([open.id])
  // The guest sees the project, but not its code.
  expect(await ids(guest)).toEqual([open.id])
  await world.root.put(`/users/${ann.id}`, { private_profile: true })
  expect([await ids(guest), await ids(ann)]).toEqual([[], [open.id, closed.id]])
})

test('activity that the caller cannot read is no contribution: on confidential issues, wikis of members and private snippets', async ({
  world,
}) => {
  const [ann, eve] = [await world.user(), await world.user()]
  const make = (more: object = {}) =>
    world.project({ visibility: 'public', initialize_with_readme: true, members: [[ann, 'developer']], ...more })
  const [issues, wikis, snippets, shown] = [await make(), await make(), await make(), await make()]
  const post = async (path: string, input: object) => expect((await ann.post(path, input)).status).toBe(201)
  await post(`/projects/${issues.id}/issues`, { title: 'Hidden', confidential: true })
  await post(`/projects/${wikis.id}/wikis`, { title: 'Home', content: 'x' })
  await world.root.put(`/projects/${wikis.id}`, { wiki_access_level: 'private' })
  const files = [{ file_path: 'a', content: 'a' }]
  await post(`/projects/${snippets.id}/snippets`, { title: 'Hidden', visibility: 'private', files })
  await post(`/projects/${shown.id}/issues`, { title: 'Open' })
  await world.runJobs()
  const ids = async (who: Client) =>
    (await who.get(`/users/${ann.username}/contributed_projects?sort=asc`)).json.map(({ id }: TestProject) => id)
  expect(await ids(eve)).toEqual([shown.id])
  expect(await ids(world.anonymous)).toEqual([])
  expect(await ids(ann)).toEqual(expect.arrayContaining([issues.id, wikis.id, shown.id]))
})

test('contributed projects are those of the latest 10,000 activities of the user', async ({ world }) => {
  const ann = await world.user()
  const [earlier, later] = [await world.project(), await world.project()]
  const ids = async () =>
    (await world.root.get(`/users/${ann.id}/contributed_projects?sort=asc`)).json.map(({ id }: TestProject) => id)
  await addActivity(world, ann.id, earlier.id, 1)
  await addActivity(world, ann.id, later.id, 9_999)
  expect(await ids()).toEqual([earlier.id, later.id])
  await addActivity(world, ann.id, later.id, 1)
  expect(await ids()).toEqual([later.id])
})
