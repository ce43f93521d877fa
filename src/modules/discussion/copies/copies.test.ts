import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { asNoteable } from '../../planning/issues/noteable.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { copyDiscussion } from './service.ts'

/** Two issues, of which the first has these notes, and what copies them to the other one. */
async function stage(world: World, texts: readonly string[]) {
  const [from, to] = [await openIssue(world), await openIssue(world)]
  for (const body of texts) await world.root.post(`${from.at}/notes`, { body })
  const copy = (rewrite: (text: string) => string) =>
    world.db.transaction((tx) =>
      copyDiscussion(tx, asNoteable(from.record), asNoteable(to.record), { around: false, rewrite }),
    )
  const copied = async (): Promise<string[]> =>
    (await world.root.get(`${to.at}/notes?sort=asc&per_page=100`)).json.map(({ body }: { body: string }) => body)
  return { copy, copied }
}

describe('copies of notes', () => {
  test('other requests have a turn between two notes that take long to rewrite', async ({ world }) => {
    const { copy, copied } = await stage(world, ['#1', '#2', '#3'])
    let turns = 0
    const turnsBefore: number[] = []
    await copy((text) => {
      turnsBefore.push(turns)
      setImmediate(() => turns++)
      const began = performance.now()
      while (performance.now() - began < 25);
      return `${text}!`
    })
    expect(turnsBefore).toEqual([0, 1, 2])
    expect(await copied()).toEqual(['#1!', '#2!', '#3!'])
  })

  test('all notes that refer to something are rewritten, whatever their number and length', async ({ world }) => {
    const long = `${'x'.repeat(700_000)} #1`
    const texts = [...Array.from({ length: 51 }, (_, index) => `Number ${index}`), long, '#2', long, '#3', 'None', '#4']
    const { copy, copied } = await stage(world, texts)
    const rewritten: string[] = []
    await copy((text) => {
      rewritten.push(text)
      return text.replace('#', 'a#')
    })
    expect(rewritten).toEqual(texts.filter((text) => text.includes('#')))
    expect(await copied()).toEqual(texts.map((text) => text.replace('#', 'a#')))
  })
})
