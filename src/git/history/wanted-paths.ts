import { Failure } from '../../kernel/failure.ts'
import { type ChangedPaths, changedPathsOf } from '../commit-graph/changed-paths.ts'
import { pathToBytes } from '../format/path-bytes.ts'

/** Maximum directories of the paths: one may have two thousand, and each takes a kilobyte. */
const maxFolders = 50_000
/** Filters are not asked about what is deeper: to hash a path of two thousand names takes as long as to read some of its trees. */
const maxFiltered = 20

/** A name in a tree: a path, a directory of others, or both. */
export type WantedName = {
  readonly path: string
  readonly depth: number
  /** The names below it, whose bytes are taken for Latin-1. */
  readonly below: Map<string, WantedName>
  isWanted: boolean
  /** For lookups in the filters; not yet prepared, or not possible. */
  filter: ChangedPaths | 'not_made' | undefined
}

/** Paths by their directories, so that a directory that did not change is passed over with all paths in it. */
export class WantedPaths {
  readonly root: WantedName = nameOf('', 0)
  readonly #paths = new Set<string>()
  /** Directories that were added, those that are gone included. */
  #folders = 0

  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      this.add(path)
      if (this.#folders > maxFolders) throw tooMany()
    }
  }

  get size(): number {
    return this.#paths.size
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#paths.values()
  }

  add(path: string): void {
    if (this.#paths.has(path)) return
    this.#paths.add(path)
    let name = this.root
    const parts = path.split('/')
    for (const [index, part] of parts.entries()) {
      const key = keyOf(part)
      let next = name.below.get(key)
      if (!next) {
        if (index < parts.length - 1) this.#folders++
        next = nameOf(index === 0 ? part : `${name.path}/${part}`, index + 1)
        name.below.set(key, next)
      }
      name = next
    }
    name.isWanted = true
  }

  delete(path: string): void {
    if (!this.#paths.delete(path)) return
    const way: [WantedName, string][] = []
    let name = this.root
    for (const part of path.split('/')) {
      const key = keyOf(part)
      way.push([name, key])
      name = name.below.get(key)!
    }
    name.isWanted = false
    for (const [above, key] of way.reverse()) {
      const { isWanted, below } = above.below.get(key)!
      if (isWanted || below.size > 0) return
      above.below.delete(key)
    }
  }

  /** Whether filters leave it open that one of the paths changed. `maybeChanged` is false only for what is certainly the same. */
  mayHaveChanged(maybeChanged: (paths: ChangedPaths) => boolean): boolean {
    const open = [this.root]
    for (let name = open.pop(); name; name = open.pop())
      for (const each of name.below.values()) {
        const filter = filterOf(each)
        if (filter && !maybeChanged(filter)) continue
        if (each.isWanted) return true
        open.push(each)
      }
    return false
  }
}

const nameOf = (path: string, depth: number): WantedName => ({
  path,
  depth,
  below: new Map(),
  isWanted: false,
  filter: 'not_made',
})

const keyOf = (part: string): string => pathToBytes(part).toString('latin1')

function filterOf(name: WantedName): ChangedPaths | undefined {
  if (name.filter === 'not_made') {
    const made = name.depth > maxFiltered ? undefined : changedPathsOf(name.path)
    // The directories above it were asked before.
    name.filter = made && { hashes: made.hashes.slice(0, 2), bits: [] }
  }
  return name.filter
}

const tooMany = () =>
  new Failure('too_large', `The files are in too many directories: one commit can change files in ${maxFolders}`)
