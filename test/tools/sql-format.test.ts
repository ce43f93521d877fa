import { describe, expect, test } from 'vitest'
import { formatSource } from '../../tools/sql-format/source.ts'
import { tokensOf } from '../../tools/sql-format/tokens.ts'

const formatted = (source: string) => formatSource('queries.ts', source).source

describe('SQL in templates', () => {
  test('a statement that spans lines has a line for each clause, indented with the code', () => {
    const source = [
      'const find = (id: number) =>',
      '  db.row(sql`select u.id, u.name from users u join namespaces n on n.owner_id = u.id and n.kind = ${kind}',
      '       where u.id = ${id} and not u.deleting ORDER BY u.id`)',
    ].join('\n')
    expect(formatted(source)).toBe(
      [
        'const find = (id: number) =>',
        '  db.row(sql`',
        '    select u.id, u.name',
        '    from users u join namespaces n on n.owner_id = u.id and n.kind = ${kind}',
        '    where u.id = ${id} and not u.deleting',
        '    order by u.id',
        '  `)',
      ].join('\n'),
    )
  })

  test('a statement that fits into one line is one line', () => {
    expect(formatted('run(sql`\n  select id\n  from users`)')).toBe('run(sql`select id from users`)')
  })

  test('a short statement in one line stays as it is', () => {
    const source = 'const old = sql`SELECT  a   from b`'
    expect(formatted(source)).toBe(source)
  })

  test('a statement in one line that is too long is broken', () => {
    const columns = Array.from({ length: 20 }, (_, index) => `column_${index}`).join(', ')
    const lines = formatted(`const all = sql\`select ${columns} from t\``).split('\n')
    expect(lines.length).toBeGreaterThan(3)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120)
  })

  test('expressions in a statement stay verbatim, whatever they contain', () => {
    const holes = ['${a  +  b}', '${sql`select\n  1`}', '${hole_0000_}', "${x ? sql`,  c` : '`'}"]
    const source = `const all = sql\`\n  select ${holes[0]}::bigint, t.${holes[2]} ${holes[3]}\n  from (${holes[1]}) as t\``
    const result = formatted(source)
    for (const hole of holes) expect(result).toContain(hole)
    expect(formatted(result)).toBe(result)
  })

  test('comments stay, and end their line', () => {
    const result = formatted(
      'run(sql`\n  select id -- the key\n  from users\n  -- of all\n  where true and /* any */ id > 0`)',
    )
    expect(
      result
        .split('\n')
        .filter((line) => line.includes('--'))
        .map((line) => line.trim()),
    ).toEqual([expect.stringMatching(/-- the key$/), expect.stringMatching(/^-- of all$/)])
    expect(result).toContain('/* any */')
    expect(formatted(result)).toBe(result)
  })

  test('a fragment is formatted like a statement', () => {
    const source = 'const more = sql`and exists (\n  select from members m where m.id = ${id})`'
    expect(formatted(source)).toBe('const more = sql`and exists (select from members m where m.id = ${id})`')
  })

  test('a statement with a string that spans lines is left as it is, and is reported', () => {
    const source = "run(sql`select 'a\nb' as text`)"
    expect(formatSource('queries.ts', source)).toEqual({
      source,
      skipped: [expect.stringContaining('a string or comment spans lines')],
    })
  })

  test('a statement that cannot be parsed is left as it is, and is reported', () => {
    const source = 'run(sql`select (\n  1`)'
    expect(formatSource('queries.ts', source)).toMatchObject({
      source,
      skipped: [expect.stringContaining('cannot be')],
    })
  })
})

describe('tokens of SQL', () => {
  test('white space and the case of words do not matter', () => {
    expect(tokensOf('SELECT  a\n from b')).toEqual(tokensOf('select a from b'))
  })

  test('strings, quoted names, comments and operators are compared exactly', () => {
    const different: [string, string][] = [
      ["select 'A'", "select 'a'"],
      ['select "A"', 'select "a"'],
      ['select a->>b', 'select a - >> b'],
      ['select 1 -- one', 'select 1 -- two'],
      ['select $$a  b$$', 'select $$a b$$'],
      ["select E'it\\'s  x'", "select E'it\\'s x'"],
      ['select ab', 'select a b'],
    ]
    for (const [one, other] of different) expect(tokensOf(one), one).not.toEqual(tokensOf(other))
  })
})
