import { Failure } from '../../kernel/failure.ts'
import { Turns } from '../../kernel/turns.ts'
import type { Oid } from '../format/oid.ts'
import type { Repository } from '../repository/repository.ts'
import { type NewObject, type NewTreeEntry, treeObject, treeOrderKey } from './objects.ts'
import { cacheTree, readTree, type TreeEntry, typeOfMode } from './trees.ts'

/** The entry at a path: a file, a symbolic link, a submodule, or a directory (`040000`), whose id is not computed yet. */
export type EditedEntry = { readonly mode: string; readonly oid: Oid | undefined }

type Leaf = { readonly mode: string; readonly oid: Oid }

const directoryMode = '040000'

/** Maximum directories that one edit reads or makes: a path may have two thousand, and each takes a kilobyte and an object. */
const maxFolders = 50_000
/** Maximum directories on the way to all paths, repetitions included. */
const maxSteps = 4_000_000

/**
 * Edits a tree in memory: each change sees the earlier ones. Reads only directories along the edited paths, through the object
 * cache, and rebuilds only changed ones; removes directories that become empty. Needs no index and no process, and writes
 * nothing. Throws `too_large` beyond its limits on directories.
 */
export class TreeEdit {
  readonly #repo: Repository
  readonly #root: Folder
  readonly #made = new Map<NewObject, readonly TreeEntry[]>()
  #folders = 0
  #steps = 0

  private constructor(repo: Repository, root: Folder) {
    this.#repo = repo
    this.#root = root
  }

  /** Starts from a tree, or from an empty one. */
  static async of(repo: Repository, tree: Oid | undefined): Promise<TreeEdit> {
    return new TreeEdit(repo, tree === undefined ? new Folder([], undefined) : await load(repo, tree))
  }

  /** The current entry at a path. */
  async find(path: string): Promise<EditedEntry | undefined> {
    const { folders, name, blocked } = await this.#walk(path, false)
    if (blocked) return undefined
    const found = folders.at(-1)!.get(name)
    return found instanceof Folder || found?.mode === directoryMode ? { mode: directoryMode, oid: undefined } : found
  }

  /** Whether the path needs a directory where there is something else. */
  async isBlocked(path: string): Promise<boolean> {
    const { blocked } = await this.#walk(path, false)
    return blocked === 'file'
  }

  /** Sets the entry at a path, replacing an existing one, and creates missing directories. Throws if the path is blocked. */
  async put(path: string, { mode, oid }: Leaf): Promise<void> {
    const { folders, name, blocked } = await this.#walk(path, true)
    if (blocked) throw new Error('something is in the way')
    folders.at(-1)!.set(name, { mode, oid })
    for (const folder of folders) folder.changed = true
  }

  /** Removes the entry at a path, and the directories that become empty. Throws if the directory of the path does not exist. */
  async remove(path: string): Promise<void> {
    const { folders, names, name, blocked } = await this.#walk(path, false)
    if (blocked) throw new Error('there is nothing to remove')
    folders.at(-1)!.set(name, null)
    for (const folder of folders) folder.changed = true
    for (let depth = folders.length - 1; depth > 0 && folders[depth]!.size === 0; depth--)
      folders[depth - 1]!.set(names[depth - 1]!, null)
  }

  /**
   * The id of the current tree, the possibly new tree objects, each after those it refers to, and the ids of the entries that
   * were set and still exist.
   */
  async finish(): Promise<{ tree: Oid; objects: NewObject[]; added: ReadonlySet<Oid> }> {
    this.#made.clear()
    const added = new Set<Oid>()
    const tree = await this.#build(this.#root, added)
    return { tree, objects: [...this.#made.keys()], added }
  }

  /** Caches the new trees after the objects of `finish` have been stored. */
  cacheTrees(): void {
    for (const [{ oid }, entries] of this.#made) cacheTree(this.#repo, oid, entries)
  }

  /** Iterative, because a path may have more folders than the stack has room for. */
  async #build(root: Folder, added: Set<Oid>): Promise<Oid> {
    const turns = new Turns()
    const folders = [root]
    for (const folder of folders) if (folder.isNew) for (const below of folder.folders()) folders.push(below)
    const oids = new Map<Folder, Oid>()
    for (const folder of folders.reverse()) {
      if (!folder.isNew) oids.set(folder, folder.oid!)
      else {
        const entries = folder.entries(oids)
        for (const oid of folder.leaves()) added.add(oid)
        const tree = treeObject(entries)
        this.#made.set(tree, entries)
        oids.set(folder, tree.oid)
      }
      if (turns.isOver) await turns.next()
    }
    return oids.get(root)!
  }

  /** The folders from the root to the parent of the path's last segment. */
  async #walk(path: string, make: boolean) {
    const names = path.split('/')
    const name = names.pop()!
    const folders = [this.#root]
    this.#steps += names.length
    if (this.#steps > maxSteps) throw tooMany()
    for (const part of names) {
      const above = folders.at(-1)!
      const found = above.get(part)
      if (found instanceof Folder) folders.push(found)
      else if (found?.mode === directoryMode) folders.push(above.set(part, await this.#load(found.oid)))
      else if (found) return { folders, names, name, blocked: 'file' as const }
      else if (make) folders.push(above.set(part, this.#add(new Folder([], undefined))))
      else return { folders, names, name, blocked: 'nothing' as const }
    }
    return { folders, names, name, blocked: undefined }
  }

  async #load(tree: Oid): Promise<Folder> {
    return this.#add(await load(this.#repo, tree))
  }

  #add(folder: Folder): Folder {
    if (++this.#folders > maxFolders) throw tooMany()
    return folder
  }
}

const tooMany = () =>
  new Failure('too_large', `The files are in too many directories: one commit can change files in ${maxFolders}`)

async function load(repo: Repository, tree: Oid): Promise<Folder> {
  const entries = await readTree(repo, tree)
  if (!entries) throw repo.damage(`tree ${tree}`)
  return new Folder(entries, tree)
}

/** One directory: the original entries and the changes to them. */
class Folder {
  readonly oid: Oid | undefined
  readonly #base: readonly TreeEntry[]
  readonly #changes = new Map<string, Leaf | Folder | null>()
  changed = false
  /** Current number of entries. */
  size: number

  constructor(base: readonly TreeEntry[], oid: Oid | undefined) {
    this.oid = oid
    this.#base = base
    this.size = base.length
    this.changed = oid === undefined
  }

  get(name: string): Leaf | Folder | undefined {
    const change = this.#changes.get(name)
    return change === undefined ? indexOf(this.#base).get(name) : (change ?? undefined)
  }

  set<T extends Leaf | Folder | null>(name: string, value: T): T {
    this.size += (value === null ? 0 : 1) - (this.get(name) === undefined ? 0 : 1)
    this.#changes.set(name, value)
    return value
  }

  /** Whether its tree must be rebuilt. */
  get isNew(): boolean {
    return this.changed || this.oid === undefined
  }

  /** Loaded or created subdirectories. */
  folders(): Folder[] {
    return [...this.#changes.values()].filter((value) => value instanceof Folder)
  }

  /** Ids of the entries that were set. */
  leaves(): Oid[] {
    return [...this.#changes.values()].flatMap((value) => (value === null || value instanceof Folder ? [] : value.oid))
  }

  /** All entries in git's order; `trees` has the ids of `folders`. */
  entries(trees: ReadonlyMap<Folder, Oid>): TreeEntry[] {
    const added = [...this.#changes].flatMap(([name, value]) => {
      if (value === null) return []
      const { mode, oid } = value instanceof Folder ? { mode: directoryMode, oid: trees.get(value)! } : value
      return { name, mode, oid, type: typeOfMode(mode) }
    })
    return inOrder(
      this.#base.filter(({ name }) => !this.#changes.has(name)),
      added,
    )
  }
}

/** Merges a few entries into many sorted ones. */
function inOrder(sorted: readonly TreeEntry[], added: readonly TreeEntry[]): TreeEntry[] {
  const result: TreeEntry[] = []
  const keyed = added.map((entry) => ({ entry, key: treeOrderKey(entry) })).sort((a, b) => Buffer.compare(a.key, b.key))
  let done = 0
  for (const { entry, key } of keyed) {
    const until = positionOf(key, sorted, done)
    for (; done < until; done++) result.push(sorted[done]!)
    result.push(entry)
  }
  for (; done < sorted.length; done++) result.push(sorted[done]!)
  return result
}

/** The first index at or after `from` whose entry sorts after `key`. */
function positionOf(key: Buffer, sorted: readonly NewTreeEntry[], from: number): number {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (Buffer.compare(treeOrderKey(sorted[middle]!), key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Entries by name, cached as long as the tree is. */
const indexes = new WeakMap<readonly TreeEntry[], ReadonlyMap<string, TreeEntry>>()

function indexOf(entries: readonly TreeEntry[]): ReadonlyMap<string, TreeEntry> {
  let index = indexes.get(entries)
  if (!index) indexes.set(entries, (index = new Map(entries.map((entry) => [entry.name, entry]))))
  return index
}
