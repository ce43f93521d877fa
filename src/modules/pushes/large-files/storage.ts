import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findStorage } from './queries.ts'

/** Where the caller finds large files of a project. */
export type Storage = {
  readonly project: ProjectSubject
  /** Switched on, by the project or its namespace. */
  readonly enabled: boolean
  /** What it was forked from, when the caller may read that. */
  readonly sourceId: number | undefined
}

/**
 * The large files of a project are its own, and those of the project it was forked from, for whom that may be read.
 *
 * Knowing a hash gives nobody anything. Who adds a file to a project either sends the bytes, also when we have them
 * already, or shows that he can have them: the project is a fork, and he may read the code of its source. Other projects
 * that he may read would prove as much, but looking for them costs a walk through everything he can see, and nobody pushes
 * the files of one project to an unrelated one often enough to pay for that.
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

/** The projects whose files those of the storage are. */
export const projectsOf = ({ project, sourceId }: Storage): number[] =>
  sourceId === undefined ? [project.id] : [project.id, sourceId]
