import { expect, test } from 'vitest'
import { WantedPaths } from './wanted-paths.ts'

const deep = (n: number) => `${n}/${'a/'.repeat(2000)}f`

test('paths in more than 50,000 directories are refused, before they take memory', () => {
  const few = Array.from({ length: 24 }, (_, n) => deep(n))
  expect(new WantedPaths(few).size).toBe(24)
  expect(() => new WantedPaths([...few, deep(24), deep(25)])).toThrow('too many directories')
})

test('paths may go and come back any number of times', () => {
  const paths = new WantedPaths(Array.from({ length: 20 }, (_, n) => deep(n)))
  for (let round = 0; round < 10; round++)
    for (const path of [...paths]) {
      paths.delete(path)
      paths.add(path)
    }
  expect(paths.size).toBe(20)
  expect(paths.root.below.size).toBe(20)
  for (const path of [...paths]) paths.delete(path)
  expect(paths.root.below.size).toBe(0)
})

test('filters are asked about a directory once for all paths in it', () => {
  const paths = new WantedPaths(Array.from({ length: 1000 }, (_, n) => `src/${n % 10}/${n}`))
  let asked = 0
  const answers = (changed: (nth: number) => boolean) => {
    asked = 0
    return paths.mayHaveChanged(() => changed(asked++))
  }
  expect([answers(() => false), asked]).toEqual([false, 1])
  // `src`, the ten directories in it, and at last one of the paths.
  expect([answers((nth) => nth === 0), asked]).toEqual([false, 11])
  expect([answers(() => true), asked]).toEqual([true, 12])
})
