import { afterEach, describe, expect } from 'vitest'
import { test } from '../../../test/world.ts'
import { boolean, integer, json, listOf, notNull, nullable, oneOf, type Shape, text, timestamp } from '../row.ts'
import { raw, type Sql, sql } from '../sql.ts'
import { takeFaults } from './check.ts'

// The faults of these tests are planted.
afterEach(async () => void (await takeFaults()))

const named: Shape = { id: integer, name: text }

describe('a statement fails in tests', () => {
  const faults: readonly (readonly [title: string, shape: Shape, statement: Sql, message: string])[] = [
    ['if a column has another name', named, sql`select id, username from users`, 'there is no column name'],
    ['if a column is missing', named, sql`select id from users`, 'there is no column name'],
    ['if a column is not in the shape', named, sql`select id, name, bio from users`, 'the shape has no column bio'],
    [
      'if two columns have one name',
      { id: integer },
      sql`select u.id, n.id from users u join namespaces n on n.owner_id = u.id`,
      'two columns are named id',
    ],
    ['if a column has another type', { id: text }, sql`select id from users`, 'column id is not text'],
    [
      'if an array has elements of another type',
      { traversal_ids: listOf(text) },
      sql`select traversal_ids from namespaces`,
      'column traversal_ids is not listOf(text)',
    ],
    [
      'if a column that may be null is not nullable',
      { bio: text },
      sql`select bio from users`,
      'column bio can be null',
    ],
    [
      'if a left join may turn a column into null',
      { id: integer, full_path: text },
      sql`select u.id, n.full_path from users u left join namespaces n on n.owner_id = u.id`,
      'column full_path can be null',
    ],
    [
      'if a right join may turn a column into null',
      { username: text },
      sql`select u.username from users u right join namespaces n on n.owner_id = u.id`,
      'column username can be null',
    ],
    [
      'if an outer join is in a subquery, a CTE or a branch of a union',
      { name: text, cte_name: text, either: text },
      sql`
        with members as (select n.name from users u left join namespaces n on n.owner_id = u.id)
        select s.name, members.name as cte_name, b.either
        from (select n.name from users u left join namespaces n on n.owner_id = u.id) as s, members,
          (select username as either from users union all select bio from users) as b
        where false
      `,
      'column name can be null, and is declared text; column cte_name can be null, and is declared text; column either can be null',
    ],
    [
      'if a case without else may be null',
      { name: text },
      sql`select case when u.admin then u.name end as name from users u`,
      'column name can be null',
    ],
  ]
  for (const [title, shape, statement, message] of faults)
    test(title, async ({ world }) => {
      await expect(world.db.rows(shape, statement)).rejects.toThrow(message)
      await expect(world.db.snapshotCache.rows(shape, statement)).rejects.toThrow(message)
      await expect(world.db.transaction((tx) => tx.row(shape, statement))).rejects.toThrow(message)
    })

  test('if a changed row returns a column that may be null', async ({ world }) => {
    const change = sql`update users set bio = null where id = ${0} returning bio`
    await expect(world.db.row({ bio: text }, change)).rejects.toThrow('column bio can be null')
    await expect(world.db.transaction((tx) => tx.row({ bio: text }, change))).rejects.toThrow('column bio can be null')
  })

  test('if a row has a null that no definition excludes', async ({ world }) => {
    const read = world.db.row({ longest: integer }, sql`select max(id) as longest from users where id < 0`)
    await expect(read).rejects.toThrow('column longest is integer, and a row has a null in it')
  })

  test('if a row has a null that the statement was said to exclude', async ({ world }) => {
    const read = world.db.row({ bio: notNull(text) }, sql`select bio from users where id = 1`)
    await expect(read).rejects.toThrow('column bio is notNull(text), and a row has a null in it')
  })

  test('if a row has another value than those listed', async ({ world }) => {
    const shape = { state: oneOf('blocked', 'banned') }
    const statement = sql`select state from users where id = 1`
    await expect(world.db.row(shape, statement)).rejects.toThrow('a row has "active" in it')
    await expect(world.db.snapshotCache.row(shape, statement)).rejects.toThrow('a row has "active" in it')
  })
})

describe('a statement passes', () => {
  const fitting: readonly (readonly [title: string, shape: Shape, statement: Sql])[] = [
    [
      'if names, types and nulls fit',
      { id: integer, bio: nullable(text), admin: boolean, created_at: timestamp, state: oneOf('active') },
      sql`select id, bio, admin, created_at, state from users where id = 1`,
    ],
    [
      'if the kept side of a left join is not nullable',
      { id: integer, name: nullable(text) },
      sql`select u.id, n.name from users u left join namespaces n on n.owner_id = u.id and n.id < 0`,
    ],
    [
      'if an expression supplies what is missing',
      { name: text, tokens: integer, some: boolean, all: json<number[]>() },
      sql`
        select coalesce(u.bio, '') as name, (select count(*) from access_tokens) as tokens,
          exists (select from users) as some, '[]'::jsonb as all
        from users u
      `,
    ],
    ['if a condition excludes the null', { bio: notNull(text) }, sql`select bio from users where bio is not null`],
    [
      'if rows without nulls lose those that another statement has',
      { username: text },
      sql`select username from users except select bio from users`,
    ],
    [
      'if rows are grouped by a column',
      { state: text, found: integer },
      sql`select state, count(*) as found from users group by state`,
    ],
  ]
  for (const [title, shape, statement] of fitting)
    test(title, async ({ world }) => {
      await world.db.rows(shape, statement)
      await world.db.transaction((tx) => tx.rows(shape, statement))
    })
})

describe('a statement whose rows are cached', () => {
  const now = 'select now() - created_at < interval $$1 day$$ as found from users'
  const faults: readonly (readonly [function_: string, expression: string])[] = [
    ['a volatile function', 'random() < 2'],
    ['now()', 'created_at < now()'],
    ['current_timestamp', 'created_at < current_timestamp'],
    ['a volatile function in a condition', '(select count(*) from users where clock_timestamp() > created_at) > 0'],
    ['a sequence', `nextval('users_id_seq') > 0`],
  ]
  for (const [function_, expression] of faults)
    test(`fails in tests if it calls ${function_}`, async ({ world }) => {
      const statement = sql`select ${raw(expression)} as found from users`
      const shape = { found: boolean }
      await expect(world.db.snapshotCache.rows(shape, statement)).rejects.toThrow('must not be called')
      await expect(world.db.transaction((tx) => tx.snapshotCache.rows(shape, statement))).rejects.toThrow(
        'must not be called',
      )
    })

  test('may read the date, and a statement that is not cached the clock', async ({ world }) => {
    await world.db.snapshotCache.rows({ found: boolean }, raw('select current_date > date $$2020-01-01$$ as found'))
    await world.db.rows({ found: boolean }, raw(now))
  })

  test('returns rows that are frozen with everything in them', async ({ world }) => {
    const shape = { shared: json<{ list: number[] }>() }
    const row = await world.db.snapshotCache.row(shape, raw(`select '{"list": [1]}'::jsonb as shared`))
    expect(() => row!.shared.list.push(2)).toThrow(TypeError)
  })
})

test('a statement that waits for a lock of its own transaction is not described, and runs', async ({ world }) => {
  const rename = sql`update users set name = name where id = ${1} returning name, ${'a lock'}::text as why`
  const row = await world.db.transaction(async (tx) => {
    await tx.run(sql`lock table users in share row exclusive mode`)
    return tx.row({ name: text, why: text }, rename)
  })
  expect(row!.why).toBe('a lock')
  await expect(world.db.row({ name: text }, rename)).rejects.toThrow('the shape has no column why')
})

describe('the faults of a test', () => {
  const faultOf = (column: string) => [
    expect.objectContaining({ message: expect.stringContaining(`no column ${column}`) }),
  ]

  test('include that of a statement whose rows are expected and never read', async ({ world }) => {
    world.db.snapshotCache.expects({ nothing: integer }, sql`select 1 as expected`)
    expect(await takeFaults()).toEqual(faultOf('nothing'))
    expect(await takeFaults()).toEqual([])
  })

  test('include that of a statement that fails before it is described', async ({ world }) => {
    const statements = Array.from({ length: 20 }, (_, n) => raw(`select 1 / (id - id) as failing_${n} from users`))
    const read = (statement: Sql) => world.db.rows({ nothing: integer }, statement)
    for (const answer of await Promise.allSettled(statements.map(read)))
      expect(answer).toMatchObject({ status: 'rejected', reason: { message: 'division by zero' } })
    expect(await takeFaults()).toHaveLength(statements.length)
  })
})
