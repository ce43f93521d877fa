import { expect, test, vi } from 'vitest'
import { FileNames } from './file-names.ts'
import type { EnforcedRule } from './queries.ts'

const namesBy = (expression: string) =>
  new FileNames({ prevent_secrets: true, file_name_regex: expression } as EnforcedRule)

test('other work has its turn while many paths are checked by a slow expression', async () => {
  let ms = 0
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => ms++)
  const paths = Array.from({ length: 1000 }, (_, n) => `${n}`)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  expect(await namesBy('exe$').firstOffence(paths)).toBeUndefined()
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
