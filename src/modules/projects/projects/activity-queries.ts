import type { Db, Tx } from '../../../db/db.ts'
import { nullable, text } from '../../../db/row.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import type { RootFiles } from './root-files.ts'

/**
 * The last activity is exact to this interval: each update of it leaves a version of the row until no transaction sees it. In a busy project, while a
 * backup runs, thousands of these would slow down all that reads the project.
 */
const activityInterval = raw(`interval '10 seconds'`)

/**
 * Notes that something happened in a project, unless another transaction changes the project at this moment: it may wait for an issue or
 * merge request that this one has locked.
 */
export const recordActivity = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`
    update projects
    set last_activity_at = now()
    where id = (
      select id
      from projects
      where id = ${projectId} and last_activity_at < now() - ${activityInterval}
      for no key update skip locked
    )
  `)

/** How many pushes a push counts as for housekeeping: each ref it moved is a file until housekeeping packs the refs. */
const housekeepingWeight = (refCount: number): number => Math.max(1, Math.ceil(refCount / 20))

/**
 * The same of a push, which housekeeping counts. A first branch becomes the default one, unless there is one; `rootFiles` are
 * those of a default branch that moved. Returns the default branch; `undefined` when the project goes.
 */
export const recordPush = async (
  tx: Tx,
  projectId: number,
  {
    firstBranch,
    rootFiles,
    refCount,
  }: { firstBranch: string | undefined; rootFiles: RootFiles | undefined; refCount: number },
): Promise<string | null | undefined> => {
  const active = sql`
    last_activity_at = case when last_activity_at < now() - ${activityInterval} then now() else last_activity_at end
  `
  const first = firstBranch ?? null
  const { readmePath, licensePath, licenseKey } = rootFiles ?? { readmePath: null, licensePath: null, licenseKey: null }
  const hasRootFiles = sql`
    (readme_path, license_path, license_key) is not distinct from (${readmePath}, ${licensePath}, ${licenseKey})
  `
  const changesFiles = rootFiles
    ? sql`, readme_path = ${readmePath}, license_path = ${licensePath}, license_key = ${licenseKey}`
    : empty
  // Rows of other columns than the last activity stay cached.
  const kept = await tx.row(
    pushedRow,
    sql`
      with counted as (
        insert into project_housekeeping as h (project_id, pushes)
        values (${projectId}, ${housekeepingWeight(refCount)}::int)
        on conflict (project_id) do update set pushes = h.pushes + excluded.pushes
      )
      update projects
      set ${active}
      where id = ${projectId}
        and not deleting
        and (default_branch is not null or ${first}::text is null)
        and ${rootFiles ? hasRootFiles : sql`true`}
      returning default_branch
    `,
  )
  // Not a second update of the row: that would lock what it refers to, such as the namespace, after the project.
  const project =
    kept ??
    (await tx.row(
      pushedRow,
      sql`
        update projects
        set ${active}, default_branch = coalesce(default_branch, ${first}) ${changesFiles}
        where id = ${projectId} and not deleting
        returning default_branch
      `,
    ))
  return project?.default_branch
}

const pushedRow = { default_branch: nullable(text) }

export type RepositoryFacts = RootFiles & {
  readonly commitCount: number
  readonly repositorySize: number
}

/** What records show of a repository, as it is now. */
export const saveRepositoryFacts = (db: Db, projectId: number, facts: RepositoryFacts): Promise<number> =>
  db.run(sql`
    with counted as (
      update project_statistics
      set commit_count = ${facts.commitCount}, repository_size = ${facts.repositorySize}
      where project_id = ${projectId}
    )
    update projects
    set readme_path = ${facts.readmePath}, license_path = ${facts.licensePath}, license_key = ${facts.licenseKey}
    where id = ${projectId}
      and (readme_path, license_path, license_key) is distinct from (
        ${facts.readmePath}, ${facts.licensePath}, ${facts.licenseKey}
      )
  `)

export const saveWikiSize = (db: Db, projectId: number, bytes: number): Promise<number> =>
  db.run(sql`update project_statistics set wiki_size = ${bytes} where project_id = ${projectId}`)

/** Fragment that adds bytes to the large files in the statistics of a project, if the CTE `linked` (size) has rows. */
export const countLinkedFiles = (projectId: number): Sql =>
  sql`
    update project_statistics
    set lfs_objects_size = lfs_objects_size + (select coalesce(sum(size), 0) from linked)
    where project_id = ${projectId} and exists (select from linked)
  `

/** Fragment that saves the size of the large files of a project. `bytes` is an expression. */
export const saveLargeFilesSize = (projectId: number, bytes: Sql): Sql =>
  sql`update project_statistics set lfs_objects_size = ${bytes} where project_id = ${projectId}`

/** Concurrent computations take turns, so that the latest one is recorded. */
const lockStatistics = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`select from project_statistics where project_id = ${projectId} for update`)

/** Saves the bytes of all files of a project's snippets. `bytes` is an expression. */
export const saveSnippetsSize = async (tx: Tx, projectId: number, bytes: Sql): Promise<void> => {
  await lockStatistics(tx, projectId)
  await tx.run(sql`update project_statistics set snippets_size = ${bytes} where project_id = ${projectId}`)
}

/** Records the size of the container registry of a project. `bytes` is an expression. */
export const saveRegistrySize = async (tx: Tx, projectId: number, bytes: Sql): Promise<void> => {
  await lockStatistics(tx, projectId)
  await tx.run(sql`update project_statistics set container_registry_size = ${bytes} where project_id = ${projectId}`)
}
