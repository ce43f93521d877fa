import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { test } from '../../test/world.ts'
import type { Plain } from './inputs.ts'
import { pureEntity, textsOfRows } from './pure-entity.ts'

type Row = { readonly [name: string]: Plain }

const Shown = pureEntity({
  name: 'Shown',
  schema: Type.Object({ row: Type.Unknown(), admin: Type.Unknown(), avatars: Type.Boolean() }),
  inputs: (rows: readonly Row[]) => rows,
  present: (row, { actor, settings }) => ({ row, admin: actor?.admin, avatars: settings.avatar_service_enabled }),
})

const frozen = () => Object.freeze({ id: 1 })

describe('texts of records named by their inputs', () => {
  test('a record with the same frozen row and equal other inputs has the same text', async ({ world }) => {
    const ctx = await contextFor(world, world.root)
    const row = frozen()
    const textOf = async (inputs: Row) => (await textsOfRows(Shown, [inputs], ctx))[0]
    const first = await textOf({ row, within: { id: 1 } })
    expect(first!.bytes.toString()).toContain('"within":{"id":1}')
    expect(await textOf({ row, within: { id: 1 } })).toBe(first)
  })

  test.for<[string, Row, Row]>([
    ['another frozen row', { row: frozen() }, { row: frozen() }],
    ...((row): [string, Row, Row][] => [
      ['another name of a value', { row, a: 1 }, { row, b: 1 }],
      ['another number', { row, at: 1 }, { row, at: 2 }],
      ['text instead of a number', { row, at: 1 }, { row, at: '1' }],
      ['text instead of null', { row, at: null }, { row, at: 'null' }],
      ['text like the name of a row', { row, at: '#1' }, { row, at: row }],
      ['another long text', { row, at: 'a'.repeat(300) }, { row, at: `${'a'.repeat(299)}b` }],
      ['text like a digest', { row, at: '=a' }, { row, at: 'a' }],
      ['a list instead of texts', { row, at: ['a', 'b'] }, { row, at: ['a","b'] }],
      ['another nested value', { row, at: [{ a: true }] }, { row, at: [{ a: false }] }],
      ['an input more', { row }, { row, at: {} }],
    ])(frozen()),
  ])('a record with %s has another text', async ([, one, other], { world }) => {
    const ctx = await contextFor(world, world.root)
    const [first, second] = await textsOfRows(Shown, [one, other], ctx)
    expect(second).not.toBe(first)
    expect(JSON.parse(second!.bytes.toString()).row).toEqual(other)
  })

  test('another viewer or another setting gets another text', async ({ world }) => {
    const inputs = [{ row: frozen() }]
    const ctx = await contextFor(world, world.root)
    const settings = { ...ctx.settings, avatar_service_enabled: !ctx.settings.avatar_service_enabled }
    const texts = await Promise.all(
      [ctx, { ...ctx, settings }, await contextFor(world, null)].map((each) => textsOfRows(Shown, inputs, each)),
    )
    expect(new Set(texts.map(([text]) => text!.bytes.toString())).size).toBe(3)
  })

  test('records of different entities have different texts', async ({ world }) => {
    const ctx = await contextFor(world, world.root)
    const Other = pureEntity({ ...Shown.pure, present: () => ({ row: 'other', admin: null, avatars: true }) })
    const inputs = [{ row: frozen() }]
    const [first] = await textsOfRows(Shown, inputs, ctx)
    const [second] = await textsOfRows(Other, inputs, ctx)
    expect(second).not.toBe(first)
  })

  test('a record without a frozen row, or with very many inputs, is not cached', async ({ world }) => {
    const ctx = await contextFor(world, world.root)
    const many = Array.from({ length: 2000 }, (_, index) => index)
    for (const inputs of [{ row: { id: 1 } }, { row: frozen(), many }]) {
      const [first] = await textsOfRows(Shown, [inputs], ctx)
      const [second] = await textsOfRows(Shown, [inputs], ctx)
      expect(second).not.toBe(first)
    }
  })
})
