import { expect } from 'vitest'
import type { Client, World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { removeUser } from './jobs.ts'

/** Asks for the removal of a user, by an administrator. */
export const remove = (world: World, who: Client, hard = false) =>
  world.root.delete(`/users/${who.id}${hard ? '?hard_delete=true' : ''}`)

/** Runs the job twice, which must change nothing the second time. */
export const settle = async (world: World, who: Client, hard = false) => {
  const ctx = await world.app.open(null)
  await removeUser.run({ userId: who.id, hard }, ctx)
  await removeUser.run({ userId: who.id, hard }, ctx)
}

/** A comment and a status by a developer of a public project. */
export async function contribution(world: World, who: Client) {
  const project = await storedProject(world, { members: [[who, 'developer']] })
  const sha = project.repository.commit({ 'a.txt': 'a\n' })
  const comments = `/projects/${project.id}/repository/commits/${sha}/comments`
  const statuses = `/projects/${project.id}/repository/commits/${sha}/statuses`
  expect((await who.post(comments, { note: 'Well done' })).status).toBe(201)
  expect((await who.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success' })).status).toBe(201)
  const authors = async (path: string) =>
    (await world.root.get(path)).json.map(({ author }: { author: { username: string } | null }) => author?.username)
  return { project, comments: () => authors(comments), statuses: () => authors(statuses) }
}
