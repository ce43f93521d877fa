import { expect, onTestFinished } from 'vitest'
import { endpoints } from '../../src/modules/endpoints.ts'
import { changeUser, ghosts } from '../tables/users.ts'
import { test } from '../world.ts'

const body = {
  name: 'x',
  title: 'x',
  key: 'x',
  email: 'ghost@example.com',
  scopes: ['api'],
}

/** These take something away, which an older release may have given, or concern the caller or what administrators note. */
const harmless: ReadonlySet<string> = new Set([
  'PUT /users/:id/custom_attributes/:key',
  'POST /users/:id/follow',
  'POST /users/:id/unfollow',
  'PUT /users/:id/disable_two_factor',
  'PATCH /users/:id/disable_two_factor',
  'POST /users/:id/gpg_keys/:key_id/revoke',
])

const writes = endpoints
  .filter(({ method, path }) => ['POST', 'PUT', 'PATCH'].includes(method) && /^\/users\/:(id|user_id)(\/|$)/.test(path))
  .map(({ method, path }) => `${method} ${path}`)
  .filter((write) => !harmless.has(write))

test('403 for all that an administrator could give to the ghost user', async ({ world }) => {
  // There is at most one ghost user, and earlier tests in this world may have created it.
  const [existing] = await ghosts(world, 'id')
  const ghost: number = existing?.id ?? (await world.user()).id
  if (!existing) {
    await changeUser(world, ghost, { kind: 'ghost' })
    onTestFinished(async () => void (await changeUser(world, ghost, { kind: 'human' })))
  }
  for (const known of ['POST /users/:user_id/keys', 'POST /users/:id/emails', 'POST /users/:id/gpg_keys'])
    expect(writes).toContain(known)
  for (const write of writes) {
    const [method, path] = write.split(' ') as [string, string]
    const answer = await world.root.send(method, path.replace(/:\w+/, String(ghost)), { json: body })
    expect(answer, write).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden - This action cannot be performed on internal users' },
    })
  }
})
