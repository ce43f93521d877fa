import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { moduleOf, readModules } from '../../tools/boundaries/modules.ts'
import { boundaries, violations } from '../../tools/boundaries/rules.ts'
import { foreignWrites, tablesWithoutOwner, writesByNameOf } from '../../tools/boundaries/tables.ts'

/** A file with this text that breaks these rules. */
const planted: readonly [rule: string, path: string, source: string][] = [
  ['kernel-imports-what-is-below', 'src/kernel/a.ts', `import type { Db } from '../db/db.ts'`],
  ['git-imports-what-is-below', 'src/git/a.ts', `import { allows } from '../access/policy.ts'`],
  ['blobs-imports-what-is-below', 'src/blobs/a.ts', `import {\n  type Ctx,\n} from '../api/ctx.ts'`],
  ['markdown-imports-what-is-below', 'src/markdown/a.ts', `import { sql } from '../db/sql.ts'`],
  ['backup-imports-what-is-below', 'src/backup/a.ts', `import { endpoint } from '../api/endpoint.ts'`],
  ['mail-imports-what-is-below', 'src/mail/a.ts', `import type { Job } from '../jobs/job.ts'`],
  ['db-imports-what-is-below', 'src/db/a.ts', `export { endpoint } from '../api/endpoint.ts'`],
  ['access-imports-what-is-below', 'src/access/a.ts', `export * from '../db/db.ts'`],
  ['settings-imports-what-is-below', 'src/settings/a.ts', `import '../api/ctx.ts'`],
  ['events-imports-what-is-below', 'src/events/a.ts', `type Ctx = import('../api/ctx.ts').Ctx`],
  ['api-imports-what-is-below', 'src/api/a.ts', `const { job } = await import('../jobs/job.ts')`],
  ['jobs-imports-what-is-below', 'src/jobs/a.ts', `import { user } from '../modules/accounts/users/subject.ts'`],
  [
    'modules-imports-what-is-below',
    'src/modules/planning/labels/a.ts',
    `import { mount } from '../../../edges/http/mount.ts'`,
  ],
  ['edges-imports-what-is-below', 'src/edges/http/a.ts', `import { createApp } from '../../app.ts'`],
  ['modules-import-earlier-modules', 'src/modules/planning/labels/a.ts', `import { x } from '../../review/index.ts'`],
  ['every-module-has-its-place', 'src/modules/plans/labels/a.ts', `export const a = 1`],
  [
    'modules-are-imported-by-their-face',
    'src/modules/review/notes/a.ts',
    `import { x } from '../../planning/labels/queries.ts'`,
  ],
  [
    'modules-are-imported-by-their-face',
    'src/edges/http/a.ts',
    `import { x } from '../../modules/planning/labels/queries.ts'`,
  ],
  ['a-face-is-for-others', 'src/modules/planning/labels/a.ts', `import { x } from '../index.ts'`],
  ['nothing-imports-the-list-of-modules', 'src/app.ts', `import { endpoints } from './modules/endpoints.ts'`],
  ['nothing-imports-the-list-of-modules', 'src/edges/http/a.ts', `import { jobs } from '../../modules/jobs.ts'`],
  ['edges-do-not-know-each-other', 'src/edges/http/a.ts', `import { x } from '../registry/a.ts'`],
  [
    'only-git-and-processes-start-processes',
    'src/modules/planning/labels/a.ts',
    `import { spawn } from 'node:child_process'`,
  ],
  ['only-http-edges-know-fastify', 'src/api/a.ts', `import type { FastifyRequest } from 'fastify'`],
  ['only-config-reads-the-environment', 'src/modules/planning/labels/a.ts', `const home = process.env.HOME`],
  ['only-config-reads-the-environment', 'src/modules/planning/labels/a.ts', `const { env } = process`],
  ['durations-use-the-monotonic-clock', 'src/jobs/a.ts', `const began = Date.now()`],
  ['clients-survive-a-lost-connection', 'src/db/a.ts', `const client = new pg.Client({ host })`],
  ['sql-is-written-in-queries', 'src/modules/planning/labels/service.ts', `import { sql } from '../../../db/sql.ts'`],
  ['tests-are-not-shipped', 'src/modules/planning/labels/a.ts', `import { World } from '../../../../test/world.ts'`],
  ['tests-read-tables-through-the-world', 'src/modules/planning/labels/a.test.ts', `await world.rows(statement)`],
  ['tests-read-tables-through-the-world', 'test/scenarios/a.test.ts', "client.query('select 1')"],
  ['tests-read-tables-through-the-world', 'test/api/a.ts', `import { sql } from '../../src/db/sql.ts'`],
]

describe('boundaries', () => {
  test.for(planted)('the boundary rule %s catches %s', ([rule, path, source]) => {
    expect(violations([moduleOf(path, source)]).map((found) => found.rule)).toContain(rule)
  })

  test('every boundary rule has a planted violation', () => {
    expect([...new Set(planted.map(([rule]) => rule))].sort()).toEqual(boundaries.map(({ name }) => name).sort())
  })

  test('a cycle of files is a violation, type imports included', () => {
    const found = violations([
      moduleOf('src/git/x.ts', `import { y } from './y.ts'`),
      moduleOf('src/git/y.ts', `import type { Z } from './z.ts'`),
      moduleOf('src/git/z.ts', `import { x } from './x.ts'`),
    ])
    expect(found).toMatchObject([
      { rule: 'no-cycles-of-files', what: 'src/git/x.ts → src/git/y.ts → src/git/z.ts → src/git/x.ts' },
    ])
  })

  test('a cycle of folders is a violation when no file is in a cycle', () => {
    const found = violations([
      moduleOf('src/modules/planning/labels/a.ts', `import { b } from '../milestones/b.ts'`),
      moduleOf('src/modules/planning/milestones/c.ts', `import { d } from '../labels/d.ts'`),
      moduleOf('src/modules/planning/milestones/b.ts', ``),
      moduleOf('src/modules/planning/labels/d.ts', ``),
    ])
    expect(found).toMatchObject([
      {
        rule: 'no-cycles-of-folders',
        what: 'src/modules/planning/labels → src/modules/planning/milestones → src/modules/planning/labels',
      },
    ])
  })

  test.for([
    [
      'what is allowed',
      'src/modules/planning/labels/queries.ts',
      `import { sql } from '../../../db/sql.ts'\nimport { project } from '../../projects/index.ts'`,
    ],
    [
      'a comment',
      'src/kernel/a.ts',
      `// import { a } from '../db/db.ts'\n/*\nimport { a } from '../db/db.ts'\nprocess.env */`,
    ],
    ['text', 'src/kernel/a.ts', 'export const text = "// no comment"; export const more = `import(1)`'],
    ['a test', 'src/kernel/a.test.ts', `import { a } from '../app.ts'\nprocess.env`],
    ['git starting git', 'src/git/runner/child.ts', `import { spawn } from 'node:child_process'`],
  ] as const)('no boundary violation: %s', ([, path, source]) => {
    expect(violations([moduleOf(path, source)])).toEqual([])
  })

  test('an import after a URL in a string is found', () => {
    expect(
      moduleOf('src/a.ts', `const at = 'http://x'\nexport const b = 1\nimport { c } from './c.ts'`).imports,
    ).toEqual(['src/c.ts'])
  })

  test('the source code has no boundary violations', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
    const modules = [...(await readModules(root, 'src')), ...(await readModules(root, 'test'))]
    expect(modules.length).toBeGreaterThan(100)
    expect(modules.find(({ path }) => path === 'src/http.ts')!.imports).toContain('src/edges/http/server.ts')
    expect(violations(modules)).toEqual([])
  })
})

describe('writes to tables', () => {
  test('a statement that writes a table of another module is a violation', () => {
    const source = (statement: string) => `export const a = (db: Db) => db.run(sql\`${statement}\`)`
    const planted = [
      moduleOf('src/modules/planning/labels/queries.ts', source('update users set name = 1')),
      moduleOf('src/modules/review/todos/queries.ts', source('insert into labels (id) values (1)')),
      moduleOf('src/events/queries.ts', source('delete from projects')),
    ]
    expect(foreignWrites(planted).map(({ what }) => what)).toEqual(['writes users', 'writes labels', 'writes projects'])
    expect(
      foreignWrites([moduleOf('src/modules/planning/labels/queries.ts', source('update labels set a = 1'))]),
    ).toEqual([])
  })

  test('a statement that writes a table put in by name is a violation, except in the files that are listed with a reason', () => {
    const put = 'export const a = (db: Db, table: Sql) => db.run(sql`update ${table} set a = 1`)'
    const named = (path: string, source = put) => writesByNameOf([moduleOf(path, source)]).map(({ what }) => what)
    expect(named('src/modules/planning/labels/queries.ts')).toEqual(['writes a table that it does not name'])
    expect(named('src/modules/namespaces/avatars/queries.ts')).toEqual([])
    expect(named('src/modules/namespaces/avatars/queries.ts', 'export const a = 1')).toEqual([
      'is an exception, and names all tables that it writes',
    ])
  })

  test('the source code writes tables only in their module, and each table has an owner', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
    const modules = await readModules(root, 'src')
    expect([...foreignWrites(modules), ...writesByNameOf(modules)]).toEqual([])
    const folder = `${root}/src/db/migrations`
    const migrations = await Promise.all((await readdir(folder)).map((name) => readFile(`${folder}/${name}`, 'utf8')))
    expect(tablesWithoutOwner(migrations.join('\n'))).toEqual([])
  })
})
