import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findStorage } from './queries.ts'

/** Where the caller finds large files of a project. */
export type Storage = {
  readonly project: ProjectSubject
  /** Whether large files are enabled for the project or its namespace. */
  readonly enabled: boolean
  /** The project it was forked from, if the caller may read that. */
  readonly sourceId: number | undefined
}

/**
 * Opens the large files of a project: its own, and those of the project it was forked from if the caller may read that.
 *
 * Knowing a hash grants nothing. To add a file to a project, the caller sends its bytes, even if they are stored
 * already, or proves access to them: the project is a fork, and the caller may read the code of its source. Access to
 * any other project with the file would be proof too, but finding one means searching all visible projects, and pushes
 * of one project's files to an unrelated one are too rare to pay for that.
 */
export async function openStorage(ctx: Ctx, project: ProjectSubject): Promise<Storage> {
  const row = await findStorage(ctx.db, project.id)
  const source = row?.source_id != null ? await loadProject(String(row.source_id), ctx) : undefined
  return {
    project,
    enabled: row?.enabled ?? false,
    sourceId: source && allows(projectPolicy.read_code, ctx.actor, source.facts) ? source.id : undefined,
  }
}

/** Ids of the projects whose files belong to the storage. */
export const projectsOf = ({ project, sourceId }: Storage): number[] =>
  sourceId === undefined ? [project.id] : [project.id, sourceId]
