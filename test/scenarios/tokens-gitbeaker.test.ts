import {
  GroupAccessTokens,
  PersonalAccessTokens,
  ProjectAccessTokens,
  UserImpersonationTokens,
  Users,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

const later = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)

test('@gitbeaker/rest creates, rotates and revokes tokens of every kind', async ({ world }) => {
  const ann = await world.user()
  const asRoot = { host: world.origin, token: world.root.token! }
  const whoHas = async (token: string) => (await new Users({ host: world.origin, token }).showCurrentUser()).id

  const personal = new PersonalAccessTokens(asRoot)
  const made = await personal.create(ann.id, 'laptop', ['api'], { expiresAt: later })
  expect(await whoHas(made['token'] as string)).toBe(ann.id)
  expect(await personal.show({ tokenId: made.id })).toMatchObject({ name: 'laptop', expires_at: later })
  const rotated = await personal.rotate(made.id, { expiresAt: later })
  expect(await whoHas(rotated['token'] as string)).toBe(ann.id)
  await personal.remove({ tokenId: rotated.id })
  expect((await personal.all({ userId: ann.id, state: 'inactive' })).map(({ id }) => id)).toEqual([made.id, rotated.id])

  const impersonation = new UserImpersonationTokens(asRoot)
  const impersonated = await impersonation.create(ann.id, 'look', ['api'])
  expect(await whoHas(impersonated['token'] as string)).toBe(ann.id)
  expect(await impersonation.show(ann.id, impersonated.id)).toMatchObject({ impersonation: true })
  await impersonation.revoke(ann.id, impersonated.id)
  expect(await impersonation.all(ann.id, { state: 'active' })).toEqual([])

  const group = await world.group()
  const project = await world.project({ group })
  for (const [tokens, id] of [
    [new ProjectAccessTokens(asRoot), project.id],
    [new GroupAccessTokens(asRoot), group.id],
  ] as const) {
    const robot = await tokens.create(id, 'robot', ['api'], later, { accessLevel: 20 })
    expect(robot).toMatchObject({ access_level: 20, expires_at: later })
    expect(await whoHas(robot.token)).toBe(robot.user_id)
    const next = await tokens.rotate(id, robot.id)
    expect((await tokens.show(id, next.id)).active).toBe(true)
    expect((await tokens.all(id)).map((each) => each.id)).toEqual([robot.id, next.id])
    await tokens.revoke(id, next.id)
    expect(await tokens.all(id)).toEqual([])
  }
})
