import { readFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { ownerOfTable } from '../../tools/boundaries/tables.ts'
import { triggersFile, triggersText } from '../../tools/triggers-text.ts'
import { triggersOf } from '../tables/instance.ts'
import { test } from '../world.ts'

describe('triggers', () => {
  test('every trigger has a comment that says why it exists', async ({ world }) => {
    const triggers = await triggersOf(world)
    expect(triggers.length).toBeGreaterThan(0)
    expect(triggers.filter(({ comment }) => !comment).map(({ name }) => name)).toEqual([])
  })

  test('every trigger belongs to a table with an owner', async ({ world }) => {
    const triggers = await triggersOf(world)
    expect(triggers.filter(({ table_name }) => !ownerOfTable(table_name)).map(({ name }) => name)).toEqual([])
  })

  test('docs/triggers.md lists the triggers of the database: `npm run triggers` writes it', async ({ world }) => {
    expect(await readFile(triggersFile, 'utf8')).toBe(triggersText(await triggersOf(world)))
  })
})
