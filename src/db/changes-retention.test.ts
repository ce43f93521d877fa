import { describe, expect } from 'vitest'
import { changeProject, inMinutes } from '../../test/tables/projects.ts'
import { test, type World } from '../../test/world.ts'
import { deleteOldChanges } from './changes-retention.ts'
import { text } from './row.ts'
import { sql } from './sql.ts'
import { copiedFrom, readCatalogue } from './table-catalogue.ts'
import { tableCatalogue } from './testing/row-cache.ts'

const changesOf = async (world: World) =>
  (await world.rows('select relation from table_changes')).map(({ relation }) => relation as string)

const rename = (world: World, id: number, name: string) =>
  world.rows('update users set name = $1 where id = $2', [name, id])

describe('what the row cache learns of changes', () => {
  test('changes are kept from one deletion to the next, and cached rows outlive both', async ({ world }) => {
    const { id } = await world.user({ name: 'Old' })
    const name = async () =>
      (await world.db.snapshotCache.row({ name: text }, sql`select name from users where id = ${id}`))!.name
    await world.db.transaction(deleteOldChanges)
    await world.db.transaction(deleteOldChanges)
    expect(await name()).toBe('Old')
    await rename(world, id, 'New')
    expect(await changesOf(world)).toContain('users')
    await world.db.transaction(deleteOldChanges)
    expect(await name()).toBe('New')
    await expect
      .poll(async () => {
        await world.db.transaction(deleteOldChanges)
        return changesOf(world)
      })
      .not.toContain('users')
    expect(await name()).toBe('New')
    await rename(world, id, 'Newer')
    expect(await name()).toBe('Newer')
  })

  test('the record is complete again after a crash of the database, and after a copy from another server', async ({
    world,
  }) => {
    const isComplete = async () =>
      (
        await world.rows(
          'select (select since from table_changes_kept) <= pg_snapshot_xmin(pg_current_snapshot()) as complete',
        )
      )[0]!.complete
    await world.rows('truncate table_changes, table_changes_kept')
    await world.db.transaction(deleteOldChanges)
    expect(await isComplete()).toBe(true)
    await world.rows(`update table_changes_kept set since = '9000000000', next = '9000000000'`)
    await world.rows(`insert into table_changes values ('9000000001', 'alien')`)
    await world.db.transaction(deleteOldChanges)
    expect([await isComplete(), await changesOf(world)]).toEqual([true, expect.not.arrayContaining(['alien'])])
  })

  test('every table that is not emptied by a crash records its changes', async ({ world }) => {
    const rows = await world.rows(readCatalogue)
    const emptied = await world.rows(
      "select relname as name from pg_class where relpersistence = 'u' and relkind = 'r'",
    )
    const ofOthers = await world.rows(
      "select relname as name from pg_class where relnamespace <> 'public'::regnamespace",
    )
    const excepted = new Set([...Object.keys(copiedFrom), ...[...emptied, ...ofOthers].map(({ name }) => name)])
    const found = rows.filter(({ name, is_view, tracked }) => !is_view && !tracked && !excepted.has(name))
    expect(found.map(({ name }) => name)).toEqual([])
  })

  test('every column of a table records its changes, if triggers name columns', async ({ world }) => {
    const columns = await world.rows(`
      with noted as (
        select t.tgrelid, t.tgattr
        from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where p.proname = 'note_table_change' and t.tgattr::text <> ''
      )
      select c.relname as name, a.attname as column,
        exists (select from noted n where n.tgrelid = c.oid and a.attnum = any(n.tgattr)) as recorded
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.oid in (select tgrelid from noted) and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    `)
    expect(new Set(columns.map(({ name }) => name))).toEqual(
      new Set(['issue_labels', 'merge_request_labels', 'projects']),
    )
    expect(columns.filter(({ recorded }) => !recorded)).toEqual([])
  })

  test('every column of issues and merge requests is compared by the record of changes', async ({ world }) => {
    const missing = await world.rows(`
      select c.relname, a.attname
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
        join pg_attribute a on a.attrelid = c.oid
      where p.proname = 'note_change_by_holder' and t.tgnargs > 0 and a.attnum > 0 and not a.attisdropped
        and split_part(split_part(p.prosrc, format('tg_table_name = %L then', c.relname), 2), 'into columns', 1)
          not like format('%%case when o.%1$s is distinct from n.%1$s then %1$L end%%', a.attname)
    `)
    expect(missing).toEqual([])
  })

  test.for([
    ['p.name from projects p', false],
    ['count(*) from projects p', false],
    ['(p.star_count + 1) * 2 * p.id as more from projects p', false],
    ['p.name, * from projects p', true],
    ['count(*), (p).* from projects p', true],
    ['p.name from projects p order by p.last_activity_at', true],
    ['p.* from projects p', true],
    ['p.name, p.xmin from projects p', true],
    ['to_jsonb(p) from projects p', true],
  ] as const)('select %s depends on the last activity: %s', async ([selected, expected], { world }) => {
    const catalogue = await tableCatalogue(world)
    const found = catalogue.of(`select ${selected}`)
    expect(found).toContain('projects')
    expect([...found].includes('projects.last_activity_at')).toBe(expected)
  })

  test('a push that adds no file of the root leaves rows of projects cached', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    const commit = (file_path: string) =>
      world.root.post(`/projects/${project.id}/repository/files/${file_path}`, {
        branch: 'master',
        content: 'text',
        commit_message: 'Add',
      })
    await commit('first.txt')
    await changeProject(world, project.id, { last_activity_at: inMinutes(-1) })
    await world.rows('delete from table_changes')
    expect((await commit('second.txt')).status).toBe(201)
    const changes = await changesOf(world)
    expect(changes).toContain('projects.last_activity_at')
    expect(changes).not.toContain('projects')
    await changeProject(world, project.id, { last_activity_at: inMinutes(1) })
    await world.rows('delete from table_changes')
    expect((await commit('third.txt')).status).toBe(201)
    expect(await changesOf(world)).not.toContain('projects.last_activity_at')
    await commit('LICENSE')
    expect(await changesOf(world)).toContain('projects')
  })
})
