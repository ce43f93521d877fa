import { Turns } from '../../kernel/turns.ts'
import type { Oid } from '../format/oid.ts'
import { isTreePath } from '../format/path-bytes.ts'
import { readCommit } from '../objects/commits.ts'
import { openGraph } from '../objects/open-graph.ts'
import type { Repository } from '../repository/repository.ts'
import { type Dag, inDag, LeaveToGit } from './dag.ts'
import { lastCommitOfPath } from './history.ts'
import { TreePairs } from './tree-pairs.ts'
import { WantedPaths } from './wanted-paths.ts'

/** Up to this number, paths are asked one by one where commits would have to be read. */
const fewPaths = 50

/**
 * What `lastCommitOfPath` says of each path, with one walk of the history for all of them. Impossible paths are not in the
 * result, nor those without a commit.
 */
export async function lastCommitsOfPaths(
  repo: Repository,
  commit: Oid,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Oid>> {
  const wanted = new Set(paths.filter(isTreePath))
  const walked =
    wanted.size > 1
      ? ((await inDag(repo, [commit], (dag) => walk(repo, ofDag(dag), commit, wanted))) ??
        (wanted.size > fewPaths ? await walkCommits(repo, commit, wanted) : undefined))
      : undefined
  if (walked) return walked
  const found = new Map<string, Oid>()
  for (const path of wanted) {
    const last = await lastCommitOfPath(repo, commit, path)
    if (last) found.set(path, last.oid)
  }
  return found
}

type Node = {
  readonly oid: Oid
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly seconds: number
}

type History = {
  readonly node: (oid: Oid) => Node | Promise<Node>
  /** Whether one of the paths may differ from those in the first parent. */
  readonly mayHaveChanged: (oid: Oid, wanted: WantedPaths) => boolean
}

const ofDag = (dag: Dag): History => ({
  node(oid) {
    const node = dag.node(oid)
    return { oid, tree: dag.tree(node), parents: dag.parents(node).map(dag.oid), seconds: dag.seconds(node) }
  },
  mayHaveChanged(oid, wanted) {
    const node = dag.node(oid)
    return wanted.mayHaveChanged((paths) => dag.maybeChanged(node, paths))
  },
})

/** Without a commit-graph, or far beyond it: reads each commit. `undefined` if only git knows the parents of commits. */
async function walkCommits(
  repo: Repository,
  commit: Oid,
  paths: ReadonlySet<string>,
): Promise<Map<string, Oid> | undefined> {
  if ((await openGraph(repo)) === 'git') return undefined
  const history: History = {
    async node(oid) {
      const found = await readCommit(repo, oid)
      if (!found) throw new LeaveToGit(`the commit ${oid} is missing`)
      return { oid, tree: found.tree, parents: found.parents, seconds: found.committer.seconds }
    },
    mayHaveChanged: () => true,
  }
  try {
    return await walk(repo, history, commit, paths)
  } catch (error) {
    if (!(error instanceof LeaveToGit)) throw error
    return undefined
  }
}

/**
 * Takes all paths back through the history together. As in git, a path that is the same in a parent continues in the first
 * such parent alone; a commit that has it otherwise than all its parents is its last.
 */
async function walk(
  repo: Repository,
  history: History,
  commit: Oid,
  paths: ReadonlySet<string>,
): Promise<Map<string, Oid>> {
  const found = new Map<string, Oid>()
  const trees = new TreePairs(repo)
  const turns = new Turns()
  const waiting = new Map<Oid, { readonly node: Node; readonly wanted: WantedPaths }>()
  const wait = (node: Node, wanted: WantedPaths) => {
    if (wanted.size === 0) return
    const there = waiting.get(node.oid)
    if (!there) waiting.set(node.oid, { node, wanted })
    else for (const path of wanted) there.wanted.add(path)
  }
  wait(await history.node(commit), new WantedPaths(paths))
  while (waiting.size > 0) {
    repo.signal?.throwIfAborted()
    if (turns.isOver) await turns.next()
    // Newest first, so that the paths of several parents come together again.
    let next = waiting.values().next().value!
    for (const each of waiting.values()) if (each.node.seconds > next.node.seconds) next = each
    const { node } = next
    waiting.delete(node.oid)
    let { wanted } = next
    for (const [index, oid] of node.parents.entries()) {
      if (wanted.size === 0) break
      const parent = await history.node(oid)
      const isSkipped = index === 0 && !history.mayHaveChanged(node.oid, wanted)
      const changed = isSkipped ? [] : await trees.changed(node.tree, parent.tree, wanted)
      for (const path of changed) wanted.delete(path)
      wait(parent, wanted)
      wanted = new WantedPaths(changed)
    }
    if (node.parents.length === 0) wanted = new WantedPaths(await trees.changed(node.tree, undefined, wanted))
    for (const path of wanted) found.set(path, node.oid)
  }
  return found
}
