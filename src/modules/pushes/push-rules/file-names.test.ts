import { expect, test } from 'vitest'
import { FileNames } from './file-names.ts'
import type { EnforcedRule } from './queries.ts'

const namesBy = (expression: string) =>
  new FileNames({ prevent_secrets: true, file_name_regex: expression } as EnforcedRule)

test('other work has its turn while many paths are checked by a slow expression', async () => {
  const slow = '(a?){200}(a*)*b(a|aa)*c$'
  const paths = Array.from({ length: 20_000 }, (_, n) => `${'a'.repeat(50)}${n}`)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  expect(await namesBy(slow).firstOffence(paths)).toBeUndefined()
  isOver = true
  expect(turns).toBeGreaterThan(1)
})

test('the first path that an expression forbids is named', async () => {
  expect(await namesBy('exe$').firstOffence(['a.txt', 'b.exe', 'id_rsa'])).toEqual({
    text: 'File name b.exe was blacklisted by the pattern exe$.',
    rule: 'file_name_regex',
    path: 'b.exe',
  })
  expect(await namesBy('').firstOffence(['home/id_rsa'])).toMatchObject({ rule: 'prevent_secrets' })
})
