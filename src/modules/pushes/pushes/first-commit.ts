import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { writeCommit, writeObject, writeTree } from '../../../git/objects/objects.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import { initialBranch, type Located, openForWriting } from '../../projects/index.ts'
import { moveRefs } from './move-refs.ts'

/** Creates the first commit of a project: a README with its name and description. `stale` if the branch exists. */
export async function commitReadme(
  ctx: Ctx,
  project: Located & { name: string; description?: string | null },
  branch: string = initialBranch,
): Promise<'moved' | 'stale'> {
  const name = branchRef(branch)
  if (!name) throw invalidFields({ default_branch: ['is invalid'] })
  const repo = await openForWriting(ctx, { ...project, default_branch: branch })
  const text = `# ${project.name}\n\n${project.description ?? ''}`
  const blob = await writeObject(repo, 'blob', Buffer.from(text))
  const tree = await writeTree(repo, [{ mode: '100644', name: 'README.md', oid: blob }])
  const who = callerSignature(ctx)
  const to = await writeCommit(repo, { tree, parents: [], author: who, committer: who, message: 'Initial commit' })
  return moveRefs(ctx, project.id, repo, [{ name, from: null, to }])
}
