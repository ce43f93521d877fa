import { describe, expect } from 'vitest'
import { answerDuring } from '../../../test/during.ts'
import { lockTable } from '../../../test/tables/instance.ts'
import { type Answer, type Client, test, unique, type World } from '../../../test/world.ts'
import { withTwoFactor } from './two-factor/testing.ts'

type Request = (admin: Client) => Promise<Answer>

/** What administrators change, with the table whose changes it waits for. `prepare` makes what it needs. */
const requests: Record<string, { table: string; prepare: (world: World) => Promise<Request> }> = {
  'DELETE /users/:id/identities/:provider': {
    table: 'identities',
    async prepare(world) {
      const { id } = await world.user()
      await world.root.put(`/users/${id}`, { provider: 'ldap', extern_uid: unique('uid') })
      return (admin) => admin.delete(`/users/${id}/identities/ldap`)
    },
  },
  'PATCH /users/:id/disable_two_factor': {
    table: 'two_factors',
    async prepare(world) {
      const ann = await world.user()
      await withTwoFactor(world, ann)
      return (admin) => admin.send('PATCH', `/users/${ann.id}/disable_two_factor`)
    },
  },
  'POST /users': {
    table: 'namespaces',
    async prepare() {
      const username = unique('new')
      const user = { username, name: 'New', email: `${username}@example.com`, password: 'correct horse battery' }
      return (admin) => admin.post('/users', user)
    },
  },
}

describe('a request of an administrator who is demoted while it waits', () => {
  test.for(Object.entries(requests))('403 to %s', async ([, { table, prepare }], { world }) => {
    const admin = await world.user({ admin: true })
    const request = await prepare(world)
    const answer = await answerDuring(
      world,
      () => request(admin),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => lockTable(tx, table),
    )
    expect(answer.status).toBe(403)
  })
})
