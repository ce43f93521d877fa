import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { CachedReads } from '../../../db/db.ts'
import { tableCatalogue } from '../../../db/testing/row-cache.ts'
import { findIssues } from '../../planning/index.ts'
import { findMergeRequests } from './list.ts'

/** The context, and the texts of the statements that it caches. */
function noting(ctx: Ctx): { ctx: Ctx; texts: string[] } {
  const texts: string[] = []
  const row: CachedReads['row'] = (shape, statement, holdersOf) => {
    texts.push(statement.text)
    return ctx.db.snapshotCache.row(shape, statement, holdersOf)
  }
  const snapshotCache = Object.create(ctx.db.snapshotCache, { row: { value: row } }) as CachedReads
  return { ctx: { ...ctx, db: Object.create(ctx.db, { snapshotCache: { value: snapshotCache } }) as Ctx['db'] }, texts }
}

const set = { of: 'everyone' } as const
const page = { page: 1, perPage: 20, keyset: false }
const order = { by: 'created_at', sort: 'desc' } as const

test.for([
  ['issues', 'weight', {}],
  ['issues', 'weight', { labels: ['one', 'two'] }],
  ['merge_requests', 'squash', {}],
] as const)(
  'a cached page of %s survives a change of the column %s, with the filters %j',
  async ([table, column, filters], { world }) => {
    const { ctx, texts } = noting(await contextFor(world, await world.user()))
    await (table === 'issues' ? findIssues : findMergeRequests)(ctx, set, { filters, order }, page)
    const ids = texts.find((text) => text.includes('as picked'))
    const found = (await tableCatalogue(world)).of(ids!)
    expect(found).toContain(`${table}.created_at`)
    expect(found).not.toContain(`${table}.${column}`)
  },
)
