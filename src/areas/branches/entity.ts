import { Type } from 'typebox'
import { entity } from '../../api/entity.ts'
import type { Commit as GitCommit } from '../../git/commits.ts'
import { Commit } from '../commits/entity.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { loadProtections } from '../protected-refs/protections.ts'
import { canPushToBranch } from '../pushes/can-push.ts'

/** A branch, the commit it is at, and the project; those of a page are of one project. */
export type BranchRow = {
  readonly name: string
  readonly commit: GitCommit
  /** Its commit is in the history of the default branch, and is not where that is. */
  readonly merged: boolean
  readonly project: ProjectSubject
}

export const Branch = entity({
  name: 'Branch',
  schema: Type.Object({
    name: Type.String(),
    commit: Commit.schema,
    merged: Type.Boolean({ description: 'The default branch has all of it' }),
    protected: Type.Boolean(),
    default: Type.Boolean(),
    developers_can_push: Type.Boolean({ description: 'Of protected ones' }),
    developers_can_merge: Type.Boolean({ description: 'Of protected ones' }),
    can_push: Type.Boolean({ description: 'The caller may' }),
    web_url: Type.String(),
  }),
  gather: (rows: readonly BranchRow[], ctx) => loadProtections(ctx, rows[0]!.project),
  present: ({ name, commit, merged, project }, ctx, protections) => ({
    name,
    commit: Commit.present({ commit, project }, ctx, undefined),
    merged,
    protected: protections.isProtected('branch', name),
    default: name === project.default_branch,
    developers_can_push: protections.grantsDevelopers('push', name),
    developers_can_merge: protections.grantsDevelopers('merge', name),
    can_push: canPushToBranch(ctx, project, protections, name),
    web_url: `${ctx.site.url}/${project.full_path}/-/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
  }),
})
