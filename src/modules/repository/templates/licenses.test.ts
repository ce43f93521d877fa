import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { filledIn } from './licenses.ts'

const now = new Date('2026-12-02T00:00:00Z')
const licensee = { project: 'Forge', fullname: 'Ann' }

describe('placeholders of license templates', () => {
  test.for([
    ['[year] [fullname]', '2026 Ann'],
    ["<one line to give the program's name and a brief idea of what it does.>", 'Forge'],
    ['{project} <name of author>', 'Forge Ann'],
    ['<one line <project>', '<one line Forge'],
  ])('%j becomes %j', ([text, filled]) => {
    expect(filledIn(text!, licensee, now)).toBe(filled)
  })

  test.for(['<one line ', '<name ', '<name of ', '[', '<project', '< '])('%j is repeated in linear time', (part) => {
    expectLinear((size) => filledIn(part.repeat(size), licensee, now), 5_000)
  })
})
