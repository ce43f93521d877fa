import { type Sql, sql } from '../../../db/sql.ts'

/*
 * Fragments that set the state of an import, for statements of `modules/lifecycle/imports`, which do that and change the import itself
 * at once. `which` selects ids of projects.
 */

/** Returns the storage of the repository. */
export const importScheduled = (projectId: number): Sql =>
  sql`update projects set import_status = 'scheduled' where id = ${projectId} returning repository_storage`

/** Returns `id` and `repository_key`; no row if the import is over or the project is being deleted. */
export const importStarted = (projectId: number): Sql =>
  sql`
    update projects
    set import_status = 'started'
    where id = ${projectId} and import_status in ('scheduled', 'started') and not deleting
    returning id, repository_key
  `

export const importFinished = (which: Sql, defaultBranch: string | null): Sql =>
  sql`
    update projects
    set import_status = 'finished', import_error = null, default_branch = ${defaultBranch}, last_activity_at = now()
    where id in (${which}) and import_status = 'started' and not deleting
  `

export const importFailed = (which: Sql, error: string): Sql =>
  sql`
    update projects
    set import_status = 'failed', import_error = ${error}
    where id in (${which}) and import_status in ('scheduled', 'started')
  `
