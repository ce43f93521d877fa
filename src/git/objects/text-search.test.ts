import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathFromBytes } from '../format/path-bytes.ts'
import { TestGit } from '../testing.ts'
import { searchText } from './text-search.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const bounds = { maxFound: 100, maxBytes: 1024 * 1024, timeoutMs: 100_000 }

describe('searchText', () => {
  test('searchText finds odd paths, lines like separators and a last line without its end', async () => {
    const repository = await world.repository()
    const odd = ['a\n--\nb', 'sp ace:1', '-dash', pathFromBytes(Buffer.from([0xff, 0x61]))]
    const commit = repository.commit(Object.fromEntries(odd.map((path) => [path, '--\nneedle\n--\n\n--\nx\nneedle'])))
    const { found, complete } = await searchText(repository.repo, [commit], { ...bounds, text: 'needle' })
    expect(complete).toBe(true)
    expect(found).toHaveLength(odd.length)
    expect(found.map(({ path }) => path).toSorted()).toEqual(odd.toSorted())
    for (const { text, firstLine } of found) expect([firstLine, text]).toEqual([1, '--\nneedle\n--\n\n--\nx\nneedle\n'])
  })

  test('searchText ends at its limits with partial results', async () => {
    const repository = await world.repository()
    const commit = repository.commit({
      many: 'needle\n\n\n\n\n\n'.repeat(1000),
      wide: `${'x'.repeat(400_000)} needle\n`,
    })
    const few = await searchText(repository.repo, [commit], { ...bounds, text: 'needle', maxFound: 7 })
    expect([few.found.length, few.complete]).toEqual([7, false])
    const small = await searchText(repository.repo, [commit], {
      ...bounds,
      text: 'needle',
      maxBytes: 1000,
      maxFound: 1e6,
    })
    expect(small.complete).toBe(false)
    expect(small.found.length).toBeLessThan(1001)
    const whole = await searchText(repository.repo, [commit], { ...bounds, text: 'needle', maxFound: 1e6 })
    expect([whole.found.length, whole.complete]).toEqual([1001, true])
    expect(whole.found.at(-1)!.text).toHaveLength(400_008)
  })

  test('searchText searches only the given paths, and ends at its timeout', async () => {
    const repository = await world.repository()
    const files = Object.fromEntries(
      Array.from({ length: 2000 }, (_, n) => [`d/${n}.txt`, `${'hay\n'.repeat(2000)}${n}`]),
    )
    const commit = repository.commit({ ...files, 'NEEDLE[1].TS': 'hay' })
    const only = await searchText(repository.repo, [commit], { ...bounds, text: 'hay', like: '*dle[1].ts' })
    expect(only.found.map(({ path }) => path)).toEqual(['NEEDLE[1].TS'])
    const slow = await searchText(repository.repo, [commit], { ...bounds, text: 'needle', timeoutMs: 1 })
    expect(slow).toEqual({ found: [], complete: false, timedOut: true })
  })
})
