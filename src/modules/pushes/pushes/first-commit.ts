import type { Ctx } from '../../../api/ctx.ts'
import { branchRef, type RefName } from '../../../git/format/ref-name.ts'
import { newObject, treeObject } from '../../../git/objects/objects.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import { initialBranch, type Located, openForWriting } from '../../projects/index.ts'
import { moveRefs } from './move-refs.ts'

type Described = Located & { name: string; description?: string | null }

/**
 * Creates the first commit of a project: a README with its name and description. Also creates the branch `also` there: both or none.
 * `stale` if a branch exists.
 */
export async function commitReadme(
  ctx: Ctx,
  project: Described,
  branch: string = initialBranch,
  also?: RefName,
): Promise<'moved' | 'stale'> {
  const name = branchRef(branch)
  if (!name) throw invalidFields({ default_branch: ['is invalid'] })
  const repo = await openForWriting(ctx, { ...project, default_branch: branch })
  const text = `# ${project.name}\n\n${project.description ?? ''}`
  const blob = newObject('blob', Buffer.from(text))
  const tree = treeObject([{ mode: '100644', name: 'README.md', oid: blob.oid }])
  const who = callerSignature(ctx)
  const newCommit = { tree: tree.oid, parents: [], author: who, committer: who, message: 'Initial commit' }
  const { commit, store } = prepareCommit(repo, newCommit, [blob, tree])
  const names = new Set(also === undefined ? [name] : [name, also])
  return moveRefs(
    ctx,
    project.id,
    repo,
    [...names].map((each) => ({ name: each, from: null, to: commit.oid })),
    { begins: true, store },
  )
}
