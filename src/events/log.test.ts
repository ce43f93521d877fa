import { describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { addEventsOfTransactions } from '../../test/tables/events.ts'
import { test, unique } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { emit, emitAll, type Position, readEvents } from './log.ts'

/** The position before the first event. */
const start: Position = { txid: '0', id: 0 }

const emitWord = (tx: Tx, word: string) =>
  emit(tx, { kind: 'custom_attribute_set', actorId: null, payload: { user_id: 1, key: word } })

/** Words of the test's own events after a position; tests of other files write to the same log. */
async function wordsAfter(world: { db: Parameters<typeof readEvents>[0] }, position: Position, own: readonly string[]) {
  const words: { word: unknown; at: Position }[] = []
  for (let events = await readEvents(world.db, position, 10_000); events.length > 0; ) {
    for (const { kind, payload, position: at } of events)
      if (kind === 'custom_attribute_set' && own.includes(payload.key)) words.push({ word: payload.key, at })
    events = await readEvents(world.db, events.at(-1)!.position, 10_000)
  }
  return words
}

describe('event log', () => {
  test('the event log has committed events only', async ({ world }) => {
    const [kept, lost] = [unique('kept'), unique('lost')]
    await world.db.transaction((tx) => emitWord(tx, kept))
    await world.db
      .transaction(async (tx) => {
        await emitWord(tx, lost)
        throw new Error('no')
      })
      .catch(() => {})
    // Transactions of other tests, in other databases of the server too, may be older and still running.
    await expect
      .poll(async () => (await wordsAfter(world, start, [kept, lost])).map(({ word }) => word))
      .toEqual([kept])
  })

  test('events that are emitted together are logged in their order and in a few statements, however many they are', async ({
    world,
  }) => {
    const words = Array.from({ length: 2500 }, (_, n) => `${unique('many')} ${n}`)
    const ctx = await contextFor(world, null)
    let statements = 0
    await ctx.transaction((tx) => {
      const run: Tx['run'] = (statement) => {
        statements++
        return tx.run(statement)
      }
      return emitAll(
        { ...tx, run },
        words.map((key) => ({ kind: 'custom_attribute_set', actorId: null, payload: { user_id: 1, key } })),
      )
    })
    expect(statements).toBeLessThan(10)
    await expect.poll(async () => (await wordsAfter(world, start, words)).map(({ word }) => word)).toEqual(words)
  })

  test('events are read in the order of transaction ids, whatever their number of digits', async ({ world }) => {
    const [nine, ten] = [unique('nine'), unique('ten')]
    // Transaction ids below all that a database assigns.
    await addEventsOfTransactions(world, nine, ten)
    const [first] = await readEvents(world.db, { txid: '8', id: 0 }, 1)
    const [second] = await readEvents(world.db, first!.position, 1)
    expect([first, second].map((event) => event!.payload)).toEqual([{ key: nine }, { key: ten }])
  })

  test('a reader misses no event although a later transaction commits first', async ({ world }) => {
    const mine = [unique('slow'), unique('fast')] as const
    const releaseSlow = Promise.withResolvers<void>()
    const slowHasEmitted = Promise.withResolvers<void>()
    const slow = world.db.transaction(async (tx) => {
      await emitWord(tx, mine[0])
      slowHasEmitted.resolve()
      await releaseSlow.promise
    })
    await slowHasEmitted.promise
    await world.db.transaction((tx) => emitWord(tx, mine[1]))

    // `fast` is committed, but an older transaction may still add an event before it.
    expect(await wordsAfter(world, start, mine)).toEqual([])
    releaseSlow.resolve()
    await slow
    await expect.poll(async () => (await wordsAfter(world, start, mine)).length).toBe(2)
    const seen = await wordsAfter(world, start, mine)
    expect(seen.map(({ word }) => word)).toEqual(mine)
    expect((await wordsAfter(world, seen[0]!.at, mine)).map(({ word }) => word)).toEqual([mine[1]])
  })
})
