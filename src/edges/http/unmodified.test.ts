import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { touchRow } from '../../../test/tables/instance.ts'
import { test, type World } from '../../../test/world.ts'

/** Makes a record, and resolves with its path and where it is stored. */
type Made = { readonly at: string; readonly table: string; readonly id: number }
const kinds: Record<string, (world: World) => Promise<Made>> = {
  // Each waits in another way: for the lock of the row, for that of what it belongs to, and for its own deletion of the row.
  async label(world) {
    const labels = `/projects/${(await world.project()).id}/labels`
    const { id } = (await world.root.post(labels, { name: 'kept', color: 'red' })).json
    return { at: `${labels}/${id}`, table: 'labels', id }
  },
  async issue(world) {
    const issues = `/projects/${(await world.project()).id}/issues`
    const { id, iid } = (await world.root.post(issues, { title: 'Kept' })).json
    return { at: `${issues}/${iid}`, table: 'issues', id }
  },
  async group(world) {
    const { id } = await world.group()
    return { at: `/groups/${id}`, table: 'namespaces', id }
  },
  async hook(world) {
    const hooks = `/projects/${(await world.project()).id}/hooks`
    const { id } = (await world.root.post(hooks, { url: 'https://203.0.114.9/receive' })).json
    return { at: `${hooks}/${id}`, table: 'hooks', id }
  },
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`a deletion with If-Unmodified-Since that waited for an edit of the ${kind} gets a 412`, async ({ world }) => {
    for (const keyed of [{}, { 'idempotency-key': randomUUID() }]) {
      const { at, table, id } = await make(world)
      const headers = { 'if-unmodified-since': new Date().toUTCString(), ...keyed }
      // The header has a resolution of seconds.
      await setTimeout(1_100)
      const { answer } = await world.db.transaction(async (tx) => {
        await touchRow(tx, table, id)
        const sent = world.root.delete(at, { headers })
        await world.waitsForLock()
        // In an object, because the transaction must end before the request can.
        return { answer: sent }
      })
      expect(await answer).toMatchObject({ status: 412, json: { message: '412 Precondition Failed' } })
      expect((await world.root.get(at)).status).toBe(200)
    }
  })

  test(`a deletion with If-Unmodified-Since takes effect if the ${kind} has not changed`, async ({ world }) => {
    for (const keyed of [{}, { 'idempotency-key': randomUUID() }]) {
      const { at } = await make(world)
      const headers = { 'if-unmodified-since': new Date().toUTCString(), ...keyed }
      await setTimeout(1_100)
      expect((await world.root.delete(at, { headers })).status).toBeLessThan(300)
      const left = await world.root.get(at)
      // A group is only marked for its deletion.
      expect(left.status === 404 || typeof left.json.marked_for_deletion_on === 'string').toBe(true)
    }
  })
}
