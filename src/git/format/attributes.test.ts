import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../test/growth.ts'
import { FilterAttributes } from './attributes.ts'

const files: readonly (readonly [text: string, ...paths: string[]])[] = [
  ['*.bin filter=lfs diff=lfs merge=lfs -text', 'a.bin', 'deep/er/a.bin', 'a.bin/x', 'abin', '.bin'],
  ['/a.bin filter=lfs', 'a.bin', 'x/a.bin'],
  ['art/** filter=lfs', 'art/a', 'art/b/c', 'art', 'x/art/a'],
  ['art/* filter=lfs', 'art/a', 'art/b/c'],
  ['**/art/*.psd filter=lfs', 'art/x.psd', 'a/b/art/x.psd', 'a/art/b/x.psd'],
  ['a/**/z filter=lfs', 'a/z', 'a/b/z', 'a/b/c/z', 'z'],
  ['*.[bB][iI][nN] filter=lfs', 'a.bin', 'a.BIN', 'a.bi', 'a.bon'],
  ['[!a-c]?.x filter=lfs', 'dd.x', 'aa.x', 'd.x'],
  ['"with blank.bin" filter=lfs', 'with blank.bin', 'with'],
  [
    '*.bin filter=lfs\na.bin -filter\nb.bin !filter\nc.bin filter=other\nd.bin -text',
    'a.bin',
    'b.bin',
    'c.bin',
    'd.bin',
    'e.bin',
  ],
  ['# *.bin filter=lfs\n[attr]lfs filter=lfs\n\n*.txt text', 'a.bin', 'a.txt'],
  ['\\[x\\].bin filter=lfs', '[x].bin', 'x.bin'],
  ['dir/ filter=lfs', 'dir/a', 'dir'],
]

describe('filters of paths by .gitattributes', () => {
  test.for(files)('filters are those that git finds for %j', ([text, ...paths]) => {
    const folder = mkdtempSync(join(tmpdir(), 'stithy-attributes-'))
    try {
      const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
      git('init', '-q')
      writeFileSync(join(folder, '.gitattributes'), text)
      const fields = git('check-attr', '-z', 'filter', '--', ...paths).split('\0')
      const expected = paths.map((_, n) => fields[3 * n + 2]!)
      const attributes = new FilterAttributes(text)
      const named = (filter: string) => (['unspecified', 'unset', 'set'].includes(filter) ? undefined : filter)
      expect(paths.map((path) => attributes.filterOf(path))).toEqual(expected.map(named))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('a line of blanks before a character that ends a line elsewhere takes linear time', () => {
    expectLinear((size) => new FilterAttributes(`a${'\t'.repeat(size)}x\u2028y`), 5_000)
  })

  // Backtracking would not end. kernel/glob.test.ts tests the cost.
  test('filters are found for patterns on which a backtracking matcher would not end', () => {
    const attributes = new FilterAttributes(`${'*a'.repeat(2000)}b filter=lfs\n${'**/a/'.repeat(500)}b filter=lfs`)
    expect(attributes.filterOf(`${'a'.repeat(4000)}/${'a/'.repeat(1000)}`)).toBeUndefined()
  })
})
