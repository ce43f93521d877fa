import { expect, test } from 'vitest'
import { readerOf, storesSettings, unread } from '../../tools/unread-inputs/names.ts'

const isRead = readerOf([
  "const params = Params({ ignored: Optional(Flag({ description: 'Ignored by all' })), used: Text() })",
  'const go = ({ used }) => used',
  "const names = ['listed']",
  'const name = settings[`${type}_key_restriction`]; const all = `${a}_${b}`',
])

test('a parameter that is declared and never named elsewhere is reported', () => {
  const inputs = ['ignored', 'used', 'listed', 'rsa_key_restriction', 'rsa_key'].map((name) => ({ name }))
  expect(unread(inputs, isRead)).toEqual([{ name: 'ignored' }, { name: 'rsa_key' }])
})

test('a name that only a sentence or a declaration contains is not read', () => {
  expect(['ignored', 'Ignored', 'Params'].map(isRead)).toEqual([false, false, true])
})

test('code that only stores and shows a setting of projects does not give it an effect', () => {
  const codes = [
    { path: 'src/modules/projects/projects/setting-fields.ts', code: 'const a = settings.shown' },
    { path: 'src/modules/portability/reference/convert-project.ts', code: "const b = ['shown']" },
    { path: 'src/modules/review/merging/queries.ts', code: 'const c = settings.used' },
  ]
  const hasEffect = readerOf(codes.filter(({ path }) => !storesSettings(path)).map(({ code }) => code))
  expect(['shown', 'used'].map(hasEffect)).toEqual([false, true])
})
