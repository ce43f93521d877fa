import { describe, expect, test } from 'vitest'
import { SharedLooks } from './shared-looks.ts'

const nothing = { rows: [] }
const found = (id: number) => ({ rows: [{ id }] })

/** Answers looks with these results, in order, and counts them. */
const answering = (...results: readonly (typeof nothing | ReturnType<typeof found> | Error)[]) => {
  const answer = {
    sent: 0,
    send: async () => {
      const result = results[answer.sent++]!
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (result instanceof Error) throw result
      return result
    },
  }
  return answer
}

describe('slots that look for a job at once', () => {
  test('share a look that finds nothing', async () => {
    const looks = new SharedLooks()
    const answer = answering(nothing)
    const results = await Promise.all([1, 2, 3].map(() => looks.look('quick', answer.send)))
    expect(results).toEqual([nothing, nothing, nothing])
    expect(answer.sent).toBe(1)
  })

  test('look again after one that found a job, or failed', async () => {
    const looks = new SharedLooks()
    const answer = answering(found(1), new Error('lost'), found(2), nothing)
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => looks.look('quick', answer.send)))
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message))).toEqual([
      found(1),
      'lost',
      found(2),
      nothing,
      nothing,
    ])
  })

  test('look again for other jobs', async () => {
    const looks = new SharedLooks()
    const [quick, slow] = [answering(nothing), answering(found(1))]
    expect(await Promise.all([looks.look('quick', quick.send), looks.look('slow', slow.send)])).toEqual([
      nothing,
      found(1),
    ])
  })

  test('look again if a job may have become due after the last look was sent', async () => {
    const looks = new SharedLooks()
    const answer = answering(nothing, found(1), nothing)
    const first = looks.look('quick', answer.send)
    await Promise.resolve()
    looks.changed()
    expect(await Promise.all([first, looks.look('quick', answer.send)])).toEqual([nothing, found(1)])
  })
})

test('a look that found nothing counts for a tenth of a second', async () => {
  const looks = new SharedLooks()
  const answer = answering(nothing, found(1))
  await looks.look('quick', answer.send)
  expect(await looks.look('quick', answer.send)).toBe(nothing)
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(await looks.look('quick', answer.send)).toEqual(found(1))
})

test('a look whose connection does not answer holds up the others for a second', async () => {
  const looks = new SharedLooks()
  void looks.look('quick', () => new Promise<never>(() => {}))
  expect(await looks.look('quick', async () => found(1))).toEqual(found(1))
})
