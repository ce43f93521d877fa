// Compiled, never run: `npm run check` fails when a line marked @ts-expect-error compiles.
import { Type } from 'typebox'
import type { Policy } from '../../src/access/policy.ts'
import { cachedRecords } from '../../src/api/cached-records.ts'
import { as, endpoint, raw, variants } from '../../src/api/endpoint.ts'
import { entity } from '../../src/api/entity.ts'
import { fetchPage } from '../../src/api/page.ts'
import { Flag, Optional, Params, Text, Whole } from '../../src/api/params/types.ts'
import { pureEntity } from '../../src/api/pure-entity.ts'
import { cacheableEntity } from '../../src/api/record-view.ts'
import type { Database } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import { Message } from '../../src/modules/instance/instance/entity.ts'
import { project } from '../../src/modules/projects/projects/subject.ts'

const one = { method: 'GET', path: '/a', summary: 's', subject: project } as const

endpoint({ ...one, allow: 'read_code', returns: null, handle: async () => undefined })

// @ts-expect-error an endpoint without a policy
endpoint({ ...one, returns: null, handle: async () => undefined })

// @ts-expect-error an ability that the policy of the subject lacks
endpoint({ ...one, allow: 'raed_code', returns: null, handle: async () => undefined })

// @ts-expect-error an endpoint without a declared response
endpoint({ ...one, allow: 'read_code', handle: async () => undefined })

// @ts-expect-error an endpoint without a subject
endpoint({ method: 'GET', path: '/a', summary: 's', allow: 'read_code', returns: null, handle: async () => undefined })

// @ts-expect-error the handler returns another row than the record needs
endpoint({ ...one, allow: 'read_code', returns: Message, handle: async () => ({ nope: 1 }) })

// @ts-expect-error a list returns a page, not a row
endpoint({ ...one, allow: 'read_code', paged: true, returns: Message, handle: async () => ({ message: 'x' }) })

// @ts-expect-error bytes need a media type
endpoint({ ...one, allow: 'read_code', returns: raw('text/plain'), handle: async () => ({ body: Buffer.alloc(0) }) })

// @ts-expect-error a record with several forms must name one
endpoint({ ...one, allow: 'read_code', returns: variants(Message), handle: async () => ({ message: 'x' }) })
endpoint({ ...one, allow: 'read_code', returns: variants(Message), handle: async () => as(Message, { message: 'x' }) })

endpoint({
  ...one,
  allow: 'read_code',
  params: Params({ n: Whole(), maybe: Optional(Text()), flag: Flag({ default: false }) }),
  returns: null,
  async handle({ params }) {
    const n: number = params.n
    const flag: boolean = params.flag
    // @ts-expect-error an optional parameter may be undefined
    const maybe: string = params.maybe
    // @ts-expect-error an undeclared parameter
    params.m
    return void [n, flag, maybe]
  },
})

// @ts-expect-error a rule over parameters names only declared ones
Params({ a: Text() }, { atLeastOneOf: ['b'] })

// @ts-expect-error the presented record does not match the schema
entity({ name: 'X', schema: Type.Object({ id: Type.Integer() }), present: (row: { id: string }) => ({ id: row.id }) })

// @ts-expect-error an unknown access level
const policy = { read: { from: 'chief' } } satisfies Policy<string>
void policy

declare const db: Database

// @ts-expect-error rows have a shape, which tests compare with the statement
void db.rows<{ id: number }>(sql`select id from users`)

// @ts-expect-error so does a single row
void db.row(sql`select id from users`)

// @ts-expect-error so do cached rows
void db.snapshotCache.rows(sql`select id from users`)

// @ts-expect-error a list needs an order
void fetchPage(db, {}, { select: sql``, from: sql``, where: [], type: 'X' }, {} as never)

const idOnly = Type.Object({ id: Type.Integer() })
type Stamped = { id: number; stamp: string }
const caching = { stamp: ({ stamp }: Stamped) => stamp, load: async (): Promise<Stamped[]> => [] }

cachedRecords<Stamped, Stamped>({
  ...caching,
  entity: cacheableEntity({ name: 'X', schema: idOnly, present: (row: Stamped) => ({ id: row.id }) }),
})

cachedRecords<Stamped, Stamped>({
  ...caching,
  entity: cacheableEntity({
    name: 'X',
    schema: idOnly,
    // @ts-expect-error a record cached as text depends on an input that is not in its key
    present: (_row: Stamped, { actor }) => ({ id: actor!.id }),
  }),
})

cachedRecords<Stamped, Stamped>({
  ...caching,
  // @ts-expect-error an entity that reads the whole request is not cached as text
  entity: entity({ name: 'X', schema: idOnly, present: (_row: Stamped, ctx) => ({ id: ctx.actor!.id }) }),
})

const pure = { name: 'X', schema: Type.Object({ id: Type.Integer() }) }

pureEntity({ ...pure, inputs: (rows: readonly { id: number }[]) => rows, present: (row) => ({ id: row.id }) })

pureEntity({
  ...pure,
  inputs: (rows: readonly { id: number }[]) => rows,
  // @ts-expect-error a record named by its inputs depends on another part of the request
  present: (_row: { id: number }, { db }) => ({ id: db ? 1 : 2 }),
})

const withFunctions = (rows: readonly number[]) => rows.map((id) => ({ of: () => id }))
// @ts-expect-error a function cannot be part of the key
pureEntity({ ...pure, inputs: withFunctions, present: (row: { of: () => number }) => ({ id: row.of() }) })

const withMaps = (rows: readonly number[]) => rows.map((id) => ({ ids: new Map([[id, id]]) }))
// @ts-expect-error a map cannot be part of the key
pureEntity({ ...pure, inputs: withMaps, present: (row: { ids: Map<number, number> }) => ({ id: row.ids.size }) })
