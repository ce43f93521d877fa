import { describe, expect } from 'vitest'
import { answerDuring } from '../../../test/during.ts'
import { lockTable, waitingFor } from '../../../test/tables/instance.ts'
import { type Answer, type Client, test, unique } from '../../../test/world.ts'
import { newPublicKey } from '../accounts/ssh-keys/testing.ts'

/** What administrators create, with the table whose changes it waits for. */
const requests: Record<string, [table: string, request: (admin: Client) => Promise<Answer>]> = {
  'POST /deploy_keys': ['ssh_keys', (admin) => admin.post('/deploy_keys', { title: 'key', key: newPublicKey() })],
  'POST /topics': ['topics', (admin) => admin.post('/topics', { name: unique('topic'), title: 'Topic' })],
}

describe('a request of an administrator who is demoted while it waits', () => {
  test.for(Object.entries(requests))('403 to %s', async ([, [table, request]], { world }) => {
    const admin = await world.user({ admin: true })
    const answer = await answerDuring(
      world,
      () => request(admin),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => lockTable(tx, table),
    )
    expect(answer.status).toBe(403)
  })
})

test('a deploy key that is disabled in a project while its title is changed there keeps the title elsewhere', async ({
  world,
}) => {
  const ann = await world.user()
  const [project, other] = [
    await world.project({ members: [[ann, 'maintainer']] }),
    await world.project({ members: [[ann, 'maintainer']] }),
  ]
  const keys = (of: { readonly id: number }) => `/projects/${of.id}/deploy_keys`
  const { id } = (await ann.post(keys(project), { title: 'old', key: newPublicKey() })).json
  expect((await ann.post(`${keys(other)}/${id}/enable`)).status).toBe(201)
  const waits = (many: number) => expect.poll(() => waitingFor(world, 'lock')).toHaveLength(many)
  const sent = await world.db.transaction(async (tx) => {
    // Until the transaction ends, the removal is not committed.
    await lockTable(tx, 'events')
    const removed = ann.delete(`${keys(project)}/${id}`)
    await waits(1)
    const edited = ann.put(`${keys(project)}/${id}`, { title: 'new' })
    await waits(2)
    return { removed, edited }
  })
  expect([(await sent.removed).status, (await sent.edited).status]).toEqual([204, 404])
  expect((await ann.get(`${keys(other)}/${id}`)).json.title).toBe('old')
})
