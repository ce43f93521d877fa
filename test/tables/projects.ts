import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { add, ago, Computed, change, find, remove, type Value } from './statements.ts'

type ProjectState = {
  readonly [column in
    | 'archived'
    | 'builds_access_level'
    | 'created_at'
    | 'default_branch'
    | 'deleting'
    | 'forked_from_project_id'
    | 'import_status'
    | 'last_activity_at'
    | 'marked_for_deletion_on'
    | 'merge_requests_access_level'
    | 'readme_path'
    | 'repository_check_failed'
    | 'repository_key'
    | 'updated_at'
    | 'visibility']?: Value
}

/** Changes one project or several. */
export const changeProject = (world: World, id: number | readonly number[], values: ProjectState) =>
  change(world, 'projects', { id }, values)

type ProjectColumn =
  | 'id'
  | 'default_branch'
  | 'deleting'
  | 'namespace_id'
  | 'repository_key'
  | 'repository_storage'
  | 'settings'

/** Columns of a project; an empty list if it does not exist. */
export const projectRow = (world: World, id: number, ...columns: readonly ProjectColumn[]) =>
  find(world, 'projects', { id }, columns)

/** Deletes the row itself, without what follows. */
export const deleteProject = (world: World, condition: { readonly id: number } | { readonly name: string }) =>
  remove(world, 'projects', { ...condition })

/** A time in the future or past, by minutes. */
export const inMinutes = (minutes: number): Computed => new Computed(`now() + make_interval(mins => ${minutes})`)

/** Whether the last activity is of this decade, as `recent`. */
export const wasActive = (world: World, id: number) =>
  find(world, 'projects', { id }, [`last_activity_at > '2021-01-01' as recent`])

/** Projects of a group that are not being deleted. */
export const projectsLeftIn = (world: World, namespace_id: number) =>
  find(world, 'projects', { namespace_id, deleting: false })

/** Adds 99 projects without repositories; their names are `names` with a number. */
export const addProjectsWithoutCode = (world: World, group: { id: number; full_path: string }, names: string) =>
  world.rows(
    `insert into projects (namespace_id, creator_id, name, path, full_path, visibility, default_branch,
        repository_storage, runners_token)
      select $1, 1, $2 || n, $2 || n, $3 || '/' || $2 || n, 0, 'main', 'default', $2 || n
      from generate_series(1, 99) n`,
    [group.id, names, group.full_path],
  )

/** Adds 103 projects to a group, one more than a record of the group shows. */
export const addManyProjects = (world: World, group: { id: number; full_path: string }) =>
  world.rows(
    `with made as (
       insert into projects (namespace_id, name, path, full_path, runners_token)
       select $1, 'p' || n, 'p' || n, $2 || '/p' || n, 't' from generate_series(1, 103) n returning id, full_path)
     insert into routes (path_key, project_id) select lower(full_path), id from made`,
    [group.id, group.full_path],
  )

/** The next projects have ids from seven million on. */
export const startProjectIdsAtMillions = (world: World) =>
  world.rows(
    `select setval(pg_get_serial_sequence('projects', 'id'), 7000000, false)
      where not exists (select from projects where id = 7000000)`,
  )

export const addStar = (world: World, user_id: number, project_id: number) =>
  add(world, 'stars', { user_id, project_id })

export const addLanguage = (world: World, project_id: number, name: string, share: number) =>
  add(world, 'project_languages', { project_id, name, share })

export const changeStatistics = (
  world: World,
  project_id: number,
  values: {
    readonly [column in
      | 'commit_count'
      | 'job_artifacts_size'
      | 'lfs_objects_size'
      | 'packages_size'
      | 'repository_size'
      | 'snippets_size'
      | 'wiki_size']?: number
  },
) => change(world, 'project_statistics', { project_id }, values)

export const largeFilesSizeOf = (world: World, project_id: number) =>
  find(world, 'project_statistics', { project_id }, ['lfs_objects_size'])

export const topicRow = (world: World, name: string) =>
  world.rows('select * from topics where lower(name) = lower($1)', [name])

/** Paths that lead to a project and are its own. */
export const routesTo = (world: World, projectId: number) =>
  world.rows('select path_key from routes where project_id = $1 and not redirect', [projectId])

export const routesBelow = (world: World, path: string) =>
  world.rows('select from routes where path_key like $1', [`${path}%`])

export const uploadsOf = (world: World, project_id: number) => find(world, 'uploads', { project_id }, ['filename'])

/** The database names a size that the file does not have. */
export const misstateUpload = (world: World, project_id: number, filename: string) =>
  change(world, 'uploads', { project_id, filename }, { size: new Computed('size + 1') })

/** All imports, or those of a project. */
export const importsOf = (world: World, project_id?: number) =>
  find(world, 'project_imports', project_id === undefined ? {} : { project_id })

export const importsWithUrl = (world: World, projectId: number) =>
  world.rows('select from project_imports where project_id = $1 and sealed_url is not null', [projectId])

export const countImportAttempts = (world: World, project_id: number, attempts: number) =>
  change(world, 'project_imports', { project_id }, { attempts })

/** The import was requested this long ago. */
export const ageImport = (world: World, project_id: number, interval: string) =>
  change(world, 'project_imports', { project_id }, { scheduled_at: ago(interval) })

/** Rows of a table of the project; `place` is `table where column`. */
export const rowsOfProject = (world: World, place: string, id: number) => world.rows(`select from ${place} = $1`, [id])

export const restoreDeletionDates = (world: World, table: 'projects' | 'namespaces') =>
  world.rows(`update ${table} set marked_for_deletion_on = '2020-01-01' where marked_for_deletion_on is not null`)

/** Numbers of private, internal and public projects of each topic that has one, as the service counts them. */
export const storedTopicCounts = (world: World) =>
  world.rows(
    `select lower(name) as name, private_projects, internal_projects, public_projects from topics
      where private_projects + internal_projects + public_projects > 0 order by 1`,
  )

/** The same, counted again. */
export const recountedTopics = (world: World) =>
  world.rows(
    `select lower(topic) as name, count(distinct p.id) filter (where visibility = 0)::integer as private_projects,
        count(distinct p.id) filter (where visibility = 10)::integer as internal_projects,
        count(distinct p.id) filter (where visibility = 20)::integer as public_projects
      from projects p cross join unnest(p.topics) as topic where not p.deleting group by lower(topic) order by 1`,
  )

/** Locks the row of a project until the transaction ends. */
export const lockProject = (tx: Tx, id: number) => tx.run(sql`select from projects where id = ${id} for update`)

/** Deletes the row of a project, as the job does that removes a deleted one. */
export const deleteProjectRow = (tx: Tx, id: number) => tx.run(sql`delete from projects where id = ${id}`)

/**
 * From now on a statement that gives issues or merge requests another audience is as slow as one for very many of them: the database stops it
 * unless it may take longer than others. For a test with a database of its own.
 */
export const slowDownCopies = async (world: World): Promise<void> => {
  await world.rows(`create function stop_as_too_slow() returns trigger language plpgsql as $$
    begin
      if (select setting = reset_val from pg_settings where name = 'statement_timeout') then
        raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
      end if;
      return new;
    end
    $$`)
  for (const table of ['issues', 'merge_requests'])
    await world.rows(`create trigger stop_as_too_slow before update of audience on ${table}
      for each row execute function stop_as_too_slow()`)
}

/** Tables whose rows are deleted with what they refer to, and what that is. */
export const cascades = (
  world: World,
): Promise<{ table: string; target: string; column: string; indexed: boolean }[]> =>
  world.rows(`
    select c.conrelid::regclass::text as table, c.confrelid::regclass::text as target, a.attname as column,
      exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = a.attnum) as indexed
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confdeltype = 'c'`)

/**
 * From now on rows of these tables are not deleted by the cascade of another deletion, or do not lose what they refer to by one, as if they were so
 * many that the database would stop it. For a test with a database of its own.
 */
export const refuseCascades = async (
  world: World,
  tables: readonly string[],
  what: 'delete' | 'update' = 'delete',
): Promise<void> => {
  await world.rows(`create function refuse_cascade() returns trigger language plpgsql as $$
    begin
      if pg_trigger_depth() > 1 then
        raise exception 'cascade to %', tg_table_name;
      end if;
      return case tg_op when 'DELETE' then old else new end;
    end
    $$`)
  for (const table of new Set(tables))
    await world.rows(`create trigger refuse_cascade before ${what} on ${table}
      for each row execute function refuse_cascade()`)
}
