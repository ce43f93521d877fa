import type { World } from '../world.ts'
import { ago, change, find } from './statements.ts'

/** Makes the finished archive of a project older. */
export const ageExports = (world: World, projectId: number, by: string) =>
  change(world, 'finished_exports', { project_id: projectId }, { created_at: ago(by) })

/** Exports of a project that wait or run. */
export const exportRequests = (world: World, projectId: number) =>
  find(world, 'export_requests', { project_id: projectId }, ['id', 'state', 'attempts'])

/** The exports of a project were requested this long ago. */
export const ageExportRequests = (world: World, projectId: number, by: string) =>
  change(world, 'export_requests', { project_id: projectId }, { created_at: ago(by) })

/** Archives that wait to be imported. */
export const archiveImports = (world: World, projectId: number) =>
  find(world, 'archive_imports', { project_id: projectId }, ['id', 'attempts'])

/** The import of an archive was requested this long ago. */
export const ageArchiveImport = (world: World, where: { namespace_id: number }, by: string) =>
  change(world, 'archive_imports', where, { created_at: ago(by) })

/** Imports of a project from another forge that wait or run. */
export const forgeImports = (world: World, projectId: number) =>
  find(world, 'forge_imports', { project_id: projectId }, ['sealed_token', 'fruitless'])

/** Tables with a foreign key to a table, or to one of these tables, and so on. Those below groups need no project. */
export async function tablesBelow(world: World, table: 'projects' | 'namespaces'): Promise<string[]> {
  const rows = await world.rows(
    `with recursive below as (
        select $1::text::regclass::oid as id
        union
        select c.conrelid from pg_constraint c join below b on c.confrelid = b.id
        where c.contype = 'f' and c.conrelid not in ('users'::regclass, 'namespaces'::regclass)
          and ($1::text = 'projects' or c.conrelid <> 'projects'::regclass and not exists (
            select from pg_attribute a
            where a.attrelid = c.conrelid and a.attname = 'project_id' and a.attnotnull
          ))
      )
      select id::regclass::text as name from below where id <> $1::text::regclass order by 1`,
    [table],
  )
  return rows.map(({ name }) => name)
}

export async function columnsOf(world: World, table: string): Promise<string[]> {
  const rows = await world.rows(
    `select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = $1 order by ordinal_position`,
    [table],
  )
  return rows.map(({ name }) => name)
}
