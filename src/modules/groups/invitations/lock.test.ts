import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { acceptInvitationsLater } from './jobs.ts'

/** Runs the job that follows the confirmation of a user's e-mail. */
const accept = async (world: World, userId: number) =>
  acceptInvitationsLater.run({ userId }, await contextFor(world, null))

/** A project in a group that locks members, with an invitation, and the user who confirmed its address while it was locked. */
async function invitedToLocked(world: World) {
  const group = await world.group()
  const project = await world.project({ group })
  const email = `${unique('guest')}@example.org`
  await world.root.post(`/projects/${project.id}/invitations`, { email, access_level: 20 })
  await world.root.put(`/groups/${group.id}`, { membership_lock: true })
  const ann = await world.user({ email })
  await accept(world, ann.id)
  expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
  const level = async () => (await world.root.get(`/projects/${project.id}/members/${ann.id}`)).json.access_level
  const open = async () => (await world.root.get(`/projects/${project.id}/invitations`)).json.length
  return { group, project, ann, level, open }
}

test('an invitation to a project is accepted once its group unlocks members', async ({ world }) => {
  const { group, level, open } = await invitedToLocked(world)
  await world.runJobs()
  await world.root.put(`/groups/${group.id}`, { membership_lock: false })
  await expect.poll(async () => [await level(), await open()]).toEqual([20, 0])
})

test('an invitation to a project is accepted once it has left the group that locks members', async ({ world }) => {
  const { project, level, open } = await invitedToLocked(world)
  const target = await world.group()
  await world.runJobs()
  expect((await world.root.put(`/projects/${project.id}/transfer`, { namespace: target.id })).status).toBe(200)
  await expect.poll(async () => [await level(), await open()]).toEqual([20, 0])
})
