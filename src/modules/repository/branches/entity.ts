import { Type } from 'typebox'
import { cacheableEntity } from '../../../api/record-view.ts'
import { nullable } from '../../../api/schema.ts'
import type { Commit as GitCommit } from '../../../git/objects/commits.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { Commit } from '../commits/entity.ts'

/** A branch with its commit and its state, which is everything that the record shows. */
export type BranchRow = {
  readonly name: string
  /** Absent if it cannot be read. */
  readonly commit: GitCommit | undefined
  readonly standing: BranchStanding
  readonly project: ProjectSubject
}

export type BranchStanding = {
  /** The default branch contains its commit, and points to another one. */
  readonly merged: boolean
  readonly protected: boolean
  readonly default: boolean
  readonly developers_can_push: boolean
  readonly developers_can_merge: boolean
  /** The caller may push to it. */
  readonly can_push: boolean
}

export const Branch = cacheableEntity({
  name: 'Branch',
  schema: Type.Object({
    name: Type.String({ description: 'Name of the branch' }),
    commit: nullable(Commit.schema, {
      description: 'Newest commit of the branch; null if the repository is damaged and has lost it',
    }),
    merged: Type.Boolean({ description: 'Merged into the default branch' }),
    protected: Type.Boolean({ description: 'True if a protection matches the branch' }),
    default: Type.Boolean({ description: 'True for the default branch of the project' }),
    developers_can_push: Type.Boolean({ description: 'Only for protected branches' }),
    developers_can_merge: Type.Boolean({ description: 'Only for protected branches' }),
    can_push: Type.Boolean({ description: 'The caller may push' }),
    web_url: Type.String({ description: 'URL of the branch page' }),
  }),
  present: ({ name, commit, standing, project }: BranchRow, view) => ({
    name,
    commit: commit ? Commit.present({ commit, project }, view) : null,
    ...standing,
    web_url: `${view.site.url}/${project.full_path}/-/tree/${encodedPath(name)}`,
  }),
})

/** The fields on which the record depends. */
export const branchKey = ({ name, commit, standing, project }: BranchRow): string =>
  JSON.stringify([project.id, project.full_path, name, commit?.oid, ...Object.values(standing).map(Number)])
