import { expect } from 'vitest'
import { type Client, test, unique } from '../../../../test/world.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

const ids = ({ json }: { json: any }) => json.map(({ id }: any) => id)

test('issue search finds words in title and description, in the instance, a group and a project', async ({ world }) => {
  const ann = await world.user()
  const word = unique('findable')
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, { group, visibility: 'public' })
  const title = await openIssue(world, { project, title: `A ${word}` })
  const text = await openIssue(world, { description: `about ${word}` })
  await openIssue(world, { visibility: 'private', title: word })
  const found = async (path: string) => ids(await ann.get(`${path}/search?scope=issues&search=${word}`))
  expect(await found('')).toEqual([text.id, title.id])
  expect(await found(`/groups/${group.id}`)).toEqual([title.id])
  expect(await found(`/groups/${group.id}/-`)).toEqual([title.id])
  expect(await found(`/projects/${text.project.id}`)).toEqual([text.id])
})

test('merge request search finds words in title and description, in the instance, a group and a project', async ({
  world,
}) => {
  const [ann, guest] = [await world.user(), await world.user()]
  const word = unique('findable')
  const group = await world.group({ visibility: 'private', members: [[ann, 'reporter']] })
  const project = await storedProject(world, { group, visibility: 'private', members: [[guest, 'guest']] })
  const title = await openMergeRequest(world, { project, title: `A ${word}` })
  const text = await openMergeRequest(world, { description: `about ${word}` })
  const search = `search?scope=merge_requests&search=${word}`
  const found = async (path: string, who = ann) => ids(await who.get(`${path}/${search}`))
  expect(await found('')).toEqual([text.id, title.id])
  expect(await found(`/groups/${group.id}`)).toEqual([title.id])
  expect(await found(`/projects/${text.project.id}`)).toEqual([text.id])
  // Guests of a private project cannot read its merge requests.
  expect(await found('', guest)).toEqual([text.id])
  expect((await guest.get(`/projects/${project.id}/${search}`)).status).toBe(403)
})

test('note search finds comments on what the caller can read, newest first, and no system notes', async ({ world }) => {
  const [ann, guest] = [await world.user(), await world.user()]
  const word = unique('findable')
  const group = await world.group({
    visibility: 'private',
    members: [
      [ann, 'reporter'],
      [guest, 'guest'],
    ],
  })
  const issue = await openIssue(world, { project: await storedProject(world, { group, visibility: 'private' }) })
  const request = await openMergeRequest(world, {
    project: await storedProject(world, { group, visibility: 'private' }),
  })
  const onIssue = (await world.root.post(`${issue.at}/notes`, { body: `I saw ${word.toUpperCase()}` })).json
  const onRequest = (await world.root.post(`${request.at}/notes`, { body: word })).json
  await world.root.put(request.at, { title: `Renamed to ${word}` })
  const found = async (who: Client, path: string) => await who.get(`${path}/search?scope=notes&search=${word}`)
  const all = await found(ann, '')
  expect(all.json).toEqual([onRequest, onIssue])
  // Guests of a private project read its issues, but not its merge requests.
  expect(ids(await found(guest, ''))).toEqual([onIssue.id])
  expect(ids(await found(guest, `/projects/${request.project.id}`))).toEqual([])
  expect(ids(await found(ann, `/projects/${request.project.id}`))).toEqual([onRequest.id])
  expect(ids(await found(ann, `/groups/${group.id}`))).toEqual([onRequest.id, onIssue.id])
  expect(ids(await found(await world.user(), ''))).toEqual([])
  await world.root.delete(`/groups/${group.id}/members/${ann.id}`)
  expect(ids(await found(ann, ''))).toEqual([])
})

test('milestone search finds those of visible projects and groups', async ({ world }) => {
  const ann = await world.user()
  const word = unique('findable')
  const group = await world.group({ visibility: 'public' })
  const hidden = await world.group({ visibility: 'private', parent: group })
  const inGroup = await world.project({ group, visibility: 'public' })
  const make = async (path: string, title: string) =>
    (await world.root.post(`${path}/milestones`, { title, description: `about ${word}` })).json
  const ofProject = await make(`/projects/${inGroup.id}`, 'One')
  const ofGroup = await make(`/groups/${group.id}`, 'Two')
  const ofHidden = await make(`/groups/${hidden.id}`, 'Three')
  const elsewhere = await make(`/projects/${(await world.project({ visibility: 'public' })).id}`, 'Four')
  const found = async (who: Client, path: string) =>
    ids(await who.get(`${path}/search?scope=milestones&search=${word}`))
  expect(await found(ann, '')).toEqual([elsewhere.id, ofGroup.id, ofProject.id])
  expect(await found(world.root, `/groups/${group.id}`)).toEqual([ofHidden.id, ofGroup.id, ofProject.id])
  expect(await found(ann, `/groups/${group.id}`)).toEqual([ofGroup.id, ofProject.id])
  expect(await found(ann, `/projects/${inGroup.id}`)).toEqual([ofProject.id])
})
