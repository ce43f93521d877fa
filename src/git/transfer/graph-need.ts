import { BrokenGraph } from '../commit-graph/graph-layer.ts'
import { readCommit } from '../objects/commits.ts'
import { openGraph } from '../objects/open-graph.ts'
import { isLoose } from '../objects/read-object.ts'
import { readRefFiles } from '../refs/ref-files.ts'
import type { Repository } from '../repository/repository.ts'

/** Commits that the commit-graph may lack: to read so few costs less than a process after each push. */
const most = 20

/**
 * Whether the commit-graph should be written again: it lacks more than a few commits of branches, or one that is packed, as those of
 * large pushes are. No process.
 */
export async function needsGraph(repo: Repository): Promise<boolean> {
  try {
    const graph = await openGraph(repo)
    const branches = await readRefFiles(repo, 'refs/heads')
    if (graph === 'git' || branches === 'ask') return true
    const seen = new Set<string>()
    const open = branches.map(({ oid }) => oid)
    for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
      if (seen.has(oid) || graph.find(oid) !== undefined) continue
      seen.add(oid)
      const commit = seen.size <= most && isLoose(repo, oid) ? await readCommit(repo, oid) : undefined
      if (!commit) return true
      open.push(...commit.parents)
    }
    return false
  } catch (error) {
    if (error instanceof BrokenGraph) return true
    throw error
  }
}
