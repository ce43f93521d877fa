import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { changedFiles } from './changes.ts'
import { type Dag, isTurnOver, LeaveToGit, nextTurn } from './dag.ts'
import { changesAlong, hasMoreChanges } from './log.ts'
import { maxAhead, PathReader } from './path-reader.ts'

/** Maximum directories to read: with more changes of a file, git itself takes longer than the walk that this replaces. */
const maxRead = 300

/** Maximum pairs of trees that are compared for a renamed file, each of which may differ in thousands of files. */
const maxCompared = 20

/** The history of the lines of a file without the commits that left it as it was. */
export type Lineage = {
  /** The newest commit after which the file is as in the commit that was asked for. */
  readonly last: Oid
  /** Commits with the nearest such commits as parents, in the format of `git blame -S`: one line each, ids separated by spaces. */
  readonly grafts: string
}

/**
 * The lineage of a file, in which `git blame` gives each line to the same commit as in the whole history: as there, a commit
 * with a parent that has the same content is passed over, for the first such parent. Throws `LeaveToGit` if git has to walk the history:
 * the file has changed often, was renamed, or was something else than a file.
 */
export async function lineageOf(repo: Repository, dag: Dag, commit: Oid, path: string): Promise<Lineage> {
  const reader = new PathReader(repo, dag, path, { left: maxRead })
  const tip = dag.node(commit)
  // Without filters, a directory would be read for each commit.
  if (await hasMoreChanges(dag, reader, tip, maxRead)) throw new LeaveToGit('too much to read')
  const last = await nearest(dag, reader, tip)
  const parents = new Map<number, readonly number[]>()
  const compared = new Set<string>()
  const requireNoRename = async (parent: number, node: number): Promise<void> => {
    const trees = [dag.tree(parent), dag.tree(node)] as const
    if (compared.has(trees.join())) return
    compared.add(trees.join())
    if (compared.size > maxCompared) throw new LeaveToGit('too much to compare')
    await nextTurn(dag)
    await compareForRename(repo, ...trees)
  }
  const open = [last]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (parents.has(node)) continue
    const found: number[] = []
    for (const parent of dag.parents(node)) {
      const isThere = (await blobAt(reader, parent)) !== undefined
      if (isThere) open.push(await nearest(dag, reader, parent))
      else await requireNoRename(parent, node)
      found.push(isThere ? open.at(-1)! : parent)
    }
    parents.set(node, found)
  }
  const line = ([node, before]: [number, readonly number[]]) => `${[node, ...before].map(dag.oid).join(' ')}\n`
  return { last: dag.oid(last), grafts: [...parents].map(line).join('') }
}

/** The first commit on the way of blame from `from` that has no parent with the same content. */
async function nearest(dag: Dag, reader: PathReader, from: number): Promise<number> {
  let node = from
  for (let steps = 1; ; steps++) {
    if (isTurnOver(steps)) await nextTurn(dag)
    if (!reader.maybeChanged(node) && dag.firstParent(node) >= 0) {
      node = dag.firstParent(node)
      continue
    }
    const parents = dag.parents(node)
    if ([node, ...parents].some((each) => !reader.isKnown(each)))
      reader.readAhead(changesAlong(dag, reader, node, maxAhead))
    const own = await blobAt(reader, node)
    let same: number | undefined
    for (const parent of parents) if (same === undefined && (await blobAt(reader, parent)) === own) same = parent
    if (same === undefined) return node
    node = same
  }
}

/** The id of the content, without the mode, which blame ignores; `undefined` if there is nothing. */
async function blobAt(reader: PathReader, node: number): Promise<string | undefined> {
  const entry = await reader.entry(node)
  if (entry !== undefined && !entry.startsWith('100')) throw new LeaveToGit('no regular file')
  return entry?.slice(entry.indexOf(' ') + 1)
}

/** Blame continues in a file that the commit renamed, which it finds among those that the commit deleted: then it is left to git. */
async function compareForRename(repo: Repository, before: Oid, after: Oid): Promise<void> {
  const { files, truncated } = await changedFiles(repo, before, after)
  if (truncated || files.some(({ status }) => status === 'deleted' || status === 'renamed'))
    throw new LeaveToGit('perhaps a renamed file')
}
