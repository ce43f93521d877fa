import { expect, test } from 'vitest'
import { readerOf, unread } from '../../tools/unread-inputs/names.ts'

const isRead = readerOf([
  "const params = Params({ ignored: Optional(Flag({ description: 'Ignored by all' })), used: Text() })",
  'const go = ({ used }) => used',
  "const names = ['listed']",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code that is read.
  'const name = settings[`${type}_key_restriction`]; const all = `${a}_${b}`',
])

test('a parameter that is declared and never named elsewhere is reported', () => {
  const inputs = ['ignored', 'used', 'listed', 'rsa_key_restriction', 'rsa_key'].map((name) => ({ name }))
  expect(unread(inputs, isRead)).toEqual([{ name: 'ignored' }, { name: 'rsa_key' }])
})

test('a name that only a sentence or a declaration contains is not read', () => {
  expect(['ignored', 'Ignored', 'Params'].map(isRead)).toEqual([false, false, true])
})
