import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { readLooseObject } from '../objects/read-object.ts'
import { readTree, type TreeEntry } from '../objects/trees.ts'
import type { Repository } from '../repository/repository.ts'

const mostFiles = 100

/** Bytes in which git looks for a NUL to decide whether a file is binary. Source: git, `buffer_is_binary`. */
const binaryWithin = 8000

/** `additions` in lines; `undefined` for a binary file. */
export type AddedFile = {
  readonly path: string
  readonly mode: string
  readonly oid: Oid
  readonly additions: number | undefined
}

/**
 * The files that one tree has more than another, in git's order, if nothing else differs and they are not packed yet: most commits that are
 * made over the API create files. No process. `undefined` if git has to compare.
 */
export const addedFiles = async (repo: Repository, from: Oid, to: Oid): Promise<readonly AddedFile[] | undefined> =>
  readLooseObject(repo, to) && collect(repo, from, to, '')

async function collect(
  repo: Repository,
  from: Oid | undefined,
  to: Oid,
  folder: string,
): Promise<AddedFile[] | undefined> {
  const [before, after] = [await entriesOf(repo, from), await readTree(repo, to)]
  if (!before || !after) return undefined
  const left = new Map(before.map((entry) => [entry.name, entry]))
  const files: AddedFile[] = []
  for (const entry of after) {
    const old = left.get(entry.name)
    left.delete(entry.name)
    if (old?.oid === entry.oid && old.mode === entry.mode) continue
    const path = folder + entry.name
    if (old && !(old.type === 'tree' && entry.type === 'tree')) return undefined
    const found =
      entry.type === 'tree' ? await collect(repo, old?.oid, entry.oid, `${path}/`) : added(repo, entry, path)
    if (!found || files.push(...found) > mostFiles) return undefined
  }
  return left.size === 0 ? files : undefined
}

const entriesOf = (repo: Repository, tree: Oid | undefined): Promise<readonly TreeEntry[] | undefined> =>
  tree === undefined || tree === emptyTreeOid ? Promise.resolve([]) : readTree(repo, tree)

function added(repo: Repository, { type, oid, mode }: TreeEntry, path: string): AddedFile[] | undefined {
  const blob = type === 'blob' ? readLooseObject(repo, oid) : undefined
  if (!blob) return undefined
  const isBinary = blob.content.subarray(0, binaryWithin).includes(0)
  return [{ path, mode, oid, additions: isBinary ? undefined : linesIn(blob.content) }]
}

/** The last line need not end. */
function linesIn(content: Buffer): number {
  let lines = 0
  let at = 0
  while (at < content.length) {
    const end = content.indexOf(0x0a, at)
    lines++
    if (end < 0) break
    at = end + 1
  }
  return lines
}
