import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { branchRef, type RefName } from '../../../git/format/ref-name.ts'
import { isReadByGit, isSafePath } from '../../../git/format/safe-path.ts'
import { type Commit, readTip } from '../../../git/objects/commits.ts'
import { passChecks } from '../../../git/objects/file-check.ts'
import { type NewObject, newObject } from '../../../git/objects/objects.ts'
import { packedBytes } from '../../../git/objects/pack.ts'
import { type PreparedCommit, prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { TreeEdit } from '../../../git/objects/tree-edit.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { conflict, type Failure, invalid } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import { initialBranch } from '../../projects/index.ts'
import { sizeViolationOf } from '../large-files/size-limit.ts'
import { moveSideRefs } from '../pushes/move-refs.ts'
import { inTurn, retryWhileStale } from '../pushes/writers.ts'
import { openHeldForWriting } from '../side-repositories/open.ts'
import { findSideRepositoryById, type SideRepository } from '../side-repositories/queries.ts'

/** A change of one file. `null` deletes it; without `content`, a moved file stays as it is. */
export type SideEdit =
  | { readonly path: string; readonly content: Buffer | string | null }
  | { readonly path: string; readonly movedFrom: string; readonly content?: Buffer | string }

export type SideCommitRequest = {
  readonly message: string
  /** Default: the caller. */
  readonly author?: { readonly name: string; readonly email: string } | undefined
  /**
   * The edits, in order, or a function that finds them in the commit on which the new one is made (undefined: there is none
   * yet). It runs again if another writer is first, and throws if the edits no longer apply.
   */
  readonly edits: readonly SideEdit[] | ((repo: Repository, head: Commit | undefined) => Promise<readonly SideEdit[]>)
  /** The commit that the caller read, or null if there was none. A `conflict` failure if the branch is elsewhere. */
  readonly expectedHead?: Oid | null | undefined
}

const overtaken = (): Failure => conflict('The repository was changed meanwhile. Refresh and try again.')

/** The default branch of a side repository, or the one that its first commit creates. */
export const mainRefOf = ({ default_branch: name }: Pick<SideRepository, 'default_branch'>): RefName =>
  branchRef(name ?? initialBranch)!

/**
 * Makes one commit of all the edits on the default branch: the way in which the API writes wikis and snippets, with the
 * journal and effects of a push. Checks no permission. Edits that change nothing make no commit. No process, unless a file is
 * written that git itself reads. Returns the new head, and undefined if the repository is still empty.
 */
export async function commitToSideRepository(
  ctx: Ctx,
  row: SideRepository,
  request: SideCommitRequest,
): Promise<{ readonly commit: Commit | undefined }> {
  const requireRoomFor = async (objects: readonly NewObject[]) => {
    const size = async () => row.size
    const tooLarge = await sizeViolationOf(ctx, size, () => packedBytes(objects))
    if (tooLarge !== undefined) throw invalid(tooLarge)
  }
  await requireRoomFor([])
  const repo = await openHeldForWriting(ctx, row)
  // The first push may have named it since the row was read.
  const ref = mainRefOf(row.default_branch === null ? ((await findSideRepositoryById(ctx.db, row.id)) ?? row) : row)
  const tryOnce = async (): Promise<{ commit: Commit | undefined } | 'stale'> => {
    const tip = (await readRef(repo, ref)) ?? null
    if (request.expectedHead !== undefined && request.expectedHead !== tip) throw overtaken()
    const head = tip === null ? undefined : await readTip(repo, tip)
    const made = await makeCommit(ctx, repo, head, request)
    if (!made) return { commit: head }
    await requireRoomFor(made.objects)
    const change = { name: ref, from: tip, to: made.commit.oid }
    const outcome = await moveSideRefs(ctx, row.id, repo, [change], made.store)
    return outcome === 'moved' ? { commit: made.commit } : outcome
  }
  return inTurn(repo, ref, () => retryWhileStale(tryOnce, overtaken))
}

async function makeCommit(
  ctx: Ctx,
  repo: Repository,
  head: Commit | undefined,
  { message, author, edits }: SideCommitRequest,
): Promise<PreparedCommit | undefined> {
  const edit = await TreeEdit.of(repo, head?.tree)
  const contents = await applyEdits(repo, edit, typeof edits === 'function' ? await edits(repo, head) : edits)
  const { tree, objects, added } = await edit.finish()
  if (tree === (head?.tree ?? emptyTreeOid)) return undefined
  const committer = callerSignature(ctx)
  const parents = head ? [head.oid] : []
  const newCommit = { tree, parents, author: { ...committer, ...author }, committer, message }
  const below = [...contents.filter(({ oid }) => added.has(oid)), ...objects]
  return prepareCommit(repo, newCommit, below, edit)
}

const regularFile = '100644'

async function applyEdits(repo: Repository, tree: TreeEdit, edits: readonly SideEdit[]): Promise<NewObject[]> {
  const contents: NewObject[] = []
  for (const edit of edits) {
    const { path, content } = edit
    if (!isSafePath(path)) throw invalid(`invalid path: '${path}'`)
    if (content === null) {
      await requireFile(tree, path)
      await tree.remove(path)
      continue
    }
    const moved = 'movedFrom' in edit ? await requireFile(tree, edit.movedFrom) : undefined
    if ('movedFrom' in edit) await tree.remove(edit.movedFrom)
    const object = content === undefined ? undefined : newObject('blob', Buffer.from(content))
    if (object) contents.push(object)
    await requireRoom(tree, path)
    if (object) await requireReadable(repo, path, object)
    const present = await tree.find(path)
    await tree.put(path, {
      mode: moved?.mode ?? present?.mode ?? regularFile,
      oid: object?.oid ?? moved!.oid,
    })
  }
  return contents
}

/** The file at a path, not a link, submodule or folder. */
async function requireFile(tree: TreeEdit, path: string): Promise<{ mode: string; oid: Oid }> {
  const found = await tree.find(path)
  if (!found?.mode.startsWith('100') || found.oid === undefined) throw conflict(`There is no file '${path}'`)
  return { mode: found.mode, oid: found.oid }
}

/** Throws if something other than a file is at the path, or in its way. */
async function requireRoom(tree: TreeEdit, path: string): Promise<void> {
  const found = await tree.find(path)
  if ((found && !found.mode.startsWith('100')) || (await tree.isBlocked(path)))
    throw conflict(`There cannot be a file '${path}': something else is in its place`)
}

/** Throws if git itself would read the file, such as `.gitmodules`, and refuse its content. */
async function requireReadable(repo: Repository, path: string, blob: NewObject): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (isReadByGit(name) && !(await passChecks(repo, [{ name, mode: regularFile, blob }])))
    throw invalid(`invalid file: '${path}'`)
}
