import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { addedFiles } from './added-files.ts'
import { changesBetweenTrees, compare } from './changes.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

type Files = Readonly<Record<string, string | Buffer>>

let branches = 0
/** A tree of these files alone. */
const treeOf = (made: TestRepository, files: Files): Oid =>
  made.git('rev-parse', `${made.commit(files, { branch: `b${++branches}`, parents: [] })}^{tree}`) as Oid

const numbered = (count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`many/${n}.txt`, `${n}\n`]))

const first: Files = { 'a.txt': 'one\ntwo\n', 'src/b.txt': 'kept\n', 'src.txt': 'between\n' }

test('trees that only have more files are compared as git does', async () => {
  const made = await world.repository()
  const before = treeOf(made, first)
  for (const more of [
    {},
    { 'c.txt': 'three\n' },
    { 'src/c.txt': 'no end', 'src/deep/er/d.txt': '\n\n', 'src-1.txt': 'x\r\ny' },
    { empty: '', 'zero.bin': Buffer.from('a\0b\n'), 'late.bin': `${'x\n'.repeat(4000)}\0`, 'ä/ö.txt': 'ü\n' },
    { 'same.txt': 'one\ntwo\n', 'again.txt': 'one\ntwo\n' },
    numbered(90),
  ] satisfies Files[]) {
    const after = treeOf(made, { ...first, ...more })
    for (const from of [before, emptyTreeOid]) {
      expect(await addedFiles(made.repo, from, after), Object.keys(more).join()).toBeDefined()
      expect(await changesBetweenTrees(made.repo, from, after)).toEqual(await compare(made.repo, from, after))
    }
  }
})

test('other changes are left to git', async () => {
  const made = await world.repository()
  const before = treeOf(made, first)
  const { 'a.txt': a, ...others } = first
  const { 'src/b.txt': _, ...withoutFolder } = first
  for (const files of [
    { ...first, 'a.txt': 'one\n' },
    others,
    { ...others, 'renamed.txt': a! },
    { ...others, 'a.txt/inside': a! },
    { ...withoutFolder, src: 'a file now' },
    { ...first, 'src/c.txt': 'three\n', 'src/b.txt': 'changed\n' },
    { ...first, 'large.txt': 'x'.repeat(300_000) },
    { ...first, ...numbered(101) },
    { ...first, ...Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`many/${n}/same.txt`, ''])) },
  ] satisfies Files[]) {
    const after = treeOf(made, files)
    expect(await addedFiles(made.repo, before, after), Object.keys(files).join()).toBeUndefined()
    expect((await compare(made.repo, before, after)).files).not.toEqual([])
  }
  const after = treeOf(made, { ...first, 'c.txt': 'three\n' })
  made.git('repack', '-a', '-d')
  made.git('prune-packed')
  expect(await addedFiles(made.repo, before, after)).toBeUndefined()
})
