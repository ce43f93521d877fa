import { emptyTreeOid, type Oid } from '../format/oid.ts'
import { isLoose, readLooseObject } from '../objects/read-object.ts'
import { readTree, type TreeEntry } from '../objects/trees.ts'
import type { Repository } from '../repository/repository.ts'

/** Trees and files that are read; for more, a process costs less. */
const mostObjects = 100

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
  isLoose(repo, to) ? new Comparison(repo).compare(from, to, '') : undefined

class Comparison {
  readonly #repo: Repository
  #objects = 0

  constructor(repo: Repository) {
    this.#repo = repo
  }

  async compare(from: Oid | undefined, to: Oid, folder: string): Promise<AddedFile[] | undefined> {
    if (++this.#objects > mostObjects) return undefined
    const [before, after] = [await this.#entriesOf(from), await readTree(this.#repo, to)]
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
        entry.type === 'tree' ? await this.compare(old?.oid, entry.oid, `${path}/`) : await this.#added(entry, path)
      if (!found) return undefined
      files.push(...found)
    }
    return left.size === 0 ? files : undefined
  }

  async #entriesOf(tree: Oid | undefined): Promise<readonly TreeEntry[] | undefined> {
    return tree === undefined || tree === emptyTreeOid ? [] : readTree(this.#repo, tree)
  }

  async #added({ type, oid, mode }: TreeEntry, path: string): Promise<AddedFile[] | undefined> {
    if (type !== 'blob' || ++this.#objects > mostObjects) return undefined
    const blob = await readLooseObject(this.#repo, oid)
    if (blob?.type !== 'blob') return undefined
    const isBinary = blob.content.subarray(0, binaryWithin).includes(0)
    return [{ path, mode, oid, additions: isBinary ? undefined : linesIn(blob.content) }]
  }
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
