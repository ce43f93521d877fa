import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { epicActionNames } from '../../src/modules/planning/epic-actions/commands.ts'
import { issueActionNames } from '../../src/modules/planning/issue-actions/commands.ts'
import { mergeRequestActionNames } from '../../src/modules/review/quick-actions/commands.ts'

test('docs/quick-actions.md names every quick action, and no other', () => {
  const page = readFileSync(new URL('../../docs/quick-actions.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `/'))
  const named = new Set(
    rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`\/([a-z_]+)/g)].map(([, name]) => name!)),
  )
  // Pictures stand for text.
  const known = new Set([...issueActionNames, ...mergeRequestActionNames, ...epicActionNames, 'shrug', 'tableflip'])
  expect([...named].sort()).toEqual([...known].sort())
})
