import type { Commit } from '../../git/commits.ts'
import { readCommit } from '../../git/commits.ts'
import { emptyTreeOid } from '../../git/oid.ts'
import { type PatchLimits, patchesBetweenTrees } from '../../git/patches.ts'
import type { Repository } from '../../git/repository.ts'
import { shownPath } from '../../git/text.ts'

export type ChangedLine = {
  /** As the commit left it. */
  readonly path: string
  /** Position in the new file; for a removed line, of what stands there now. */
  readonly line: number
  readonly kind: 'new' | 'old'
}

/** Whether a commit added or removed that line. Context does not count. Costs what the commit's diff costs. */
export async function isChangedLine(
  repo: Repository,
  commit: Commit,
  { path, line, kind }: ChangedLine,
  limits: PatchLimits,
) {
  const parent = commit.parents[0] && (await readCommit(repo, commit.parents[0]))
  const { files } = await patchesBetweenTrees(repo, parent?.tree ?? emptyTreeOid, commit.tree, limits)
  return files.some(({ change, text }) => shownPath(change.newPath) === path && hasLine(text, line, kind))
}

const signs = { new: '+', old: '-' } as const

function hasLine(hunks: string, line: number, kind: 'new' | 'old'): boolean {
  let position = 0
  for (const text of hunks.split('\n')) {
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text)?.[1]
    if (start !== undefined) {
      position = Number(start)
      continue
    }
    if (position === line && text.startsWith(signs[kind])) return true
    if (text.startsWith('+') || text.startsWith(' ')) position++
  }
  return false
}
