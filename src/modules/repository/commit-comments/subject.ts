import { commitPolicy } from '../../../access/commit-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { refused } from '../../../kernel/failure.ts'
import { type Discussed, discussedSubject } from '../../discussion/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { getCommit } from '../commits/revision.ts'
import { newDiscussedCommit, shownTitle } from './new-commit.ts'
import { placeOf } from './place.ts'
import { beginDiscussedCommit, findDiscussedCommit, lockDiscussedCommit } from './queries.ts'

export type CommitSubject = {
  readonly project: ProjectSubject
  readonly commit: Commit
  /** Of its row; 0 if it has none. */
  readonly id: number
  readonly facts: Facts
}

/**
 * A commit of a project. Two statements, which are usually cached, and a round trip to git. Callers who cannot read the code cannot find
 * out which commits exist.
 */
async function loadCommit({ id, sha }: { id: string; sha: string }, ctx: Ctx): Promise<CommitSubject | undefined> {
  const project = await loadProject(id, ctx)
  if (!project || !allows(commitPolicy.read_project, ctx.actor, project.facts)) return undefined
  if (!allows(commitPolicy.read_code, ctx.actor, project.facts)) throw refused(ctx.actor)
  const commit = await getCommit(openRepository(ctx, project), sha)
  return { project, commit, id: (await findDiscussedCommit(ctx.db, project.id, commit.oid)) ?? 0, facts: project.facts }
}

/** A commit of a project with the facts that operations on its notes need. */
export const commit = subject({
  what: 'Project',
  params: Params({
    id: Text({ description: 'ID or full path of the project' }),
    sha: Text({ description: 'Full or abbreviated commit hash, or branch or tag name' }),
  }),
  policy: commitPolicy,
  visible: 'read_project',
  load: loadCommit,
  // The first comment makes the row, and the name may lead to another commit meanwhile.
  identityOf: ({ project }) => project.id,
})

/** What the kernel of discussion needs to know of a commit. */
export function asDiscussed(subject: CommitSubject): Discussed {
  const { project, commit, id } = subject
  return {
    type: 'Commit',
    id,
    holder: { of: 'project', id: project.id },
    iid: id,
    oid: commit.oid,
    title: shownTitle(commit),
    factsNow: async (now) => (await loadProject(String(project.id), now))?.facts,
    policy: commitPolicy,
    touch: (tx) => lockDiscussedCommit(tx, id),
    begin: async (tx, ctx) => beginDiscussedCommit(tx, await newDiscussedCommit(tx, ctx, project.id, commit)),
    placeOf: (ctx, wanted) => placeOf(ctx, subject, wanted),
  }
}

/** Commits as the subject of endpoints for discussions. */
export const discussedCommit = discussedSubject({
  type: 'Commit',
  subject: commit,
  path: '/projects/:id/repository/commits/:sha',
  read: 'read_code',
  update: 'comment',
  discussed: asDiscussed,
})
