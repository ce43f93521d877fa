import { basename, dirname } from 'node:path'

/** A file system operation of a process, in the order in which the system calls ended. Paths are absolute. */
export type FileOperation =
  | { readonly kind: 'create' | 'make folder' | 'remove' | 'write' | 'sync'; readonly path: string }
  | { readonly kind: 'rename' | 'link'; readonly path: string; readonly to: string }

type Node = {
  readonly isFolder: boolean
  /** Content that was written after the last fsync. A power loss may leave it empty or torn. */
  unsynced: boolean
  /** Of a folder: its current entries. */
  readonly entries: Map<string, Node>
  /** Of a folder: names that changed after its last fsync. A power loss may undo each of these changes. */
  readonly changed: Set<string>
  /** Of a folder: what such names named before they were removed. */
  readonly removed: Map<string, Node>
}

const newNode = (isFolder = false): Node => ({
  isFolder,
  unsynced: false,
  entries: new Map(),
  changed: new Set(),
  removed: new Map(),
})

function remove(folder: Node, name: string): void {
  const node = folder.entries.get(name)
  if (node) folder.removed.set(name, node)
  folder.entries.delete(name)
}

/**
 * The state of a folder that POSIX guarantees after a power loss: a file has its content after an fsync of the file, and its
 * name after an fsync of the folder that contains it. File systems guarantee more, each something else; this is the common
 * minimum.
 */
export class Disk {
  readonly #root: string
  readonly #top = newNode(true)

  /** `root` must be empty when the recording begins. */
  constructor(root: string) {
    this.#root = root
  }

  apply(operation: FileOperation): void {
    const { kind, path } = operation
    if (kind === 'rename' || kind === 'link') return this.#name(operation)
    if (kind === 'write' || kind === 'sync') {
      const node = this.#find(path)
      if (!node) return
      node.unsynced = kind === 'write'
      if (kind === 'sync') {
        node.changed.clear()
        node.removed.clear()
      }
      return
    }
    const parent = this.#find(dirname(path))
    if (!parent) return
    const name = basename(path)
    if (kind === 'remove') remove(parent, name)
    else if (parent.entries.has(name)) return
    else parent.entries.set(name, newNode(kind === 'make folder'))
    parent.changed.add(name)
  }

  #name({ kind, path, to }: { kind: 'rename' | 'link'; path: string; to: string }): void {
    const [source, target] = [this.#find(dirname(path)), this.#find(dirname(to))]
    const node = this.#find(path)
    if (kind === 'rename' && source) {
      remove(source, basename(path))
      source.changed.add(basename(path))
    }
    if (!target) return
    target.entries.set(basename(to), node ?? newNode())
    target.changed.add(basename(to))
  }

  #find(path: string): Node | undefined {
    if (path === this.#root) return this.#top
    if (!path.startsWith(`${this.#root}/`)) return undefined
    let node: Node | undefined = this.#top
    for (const part of path.slice(this.#root.length + 1).split('/')) node = node?.entries.get(part)
    return node
  }

  /**
   * What a power loss at this moment may destroy, relative to the root: `content of a/b`, `name of a/b`, `removal of a/b`.
   * Lists only what `matters`; a folder without a name includes its entries. Of a removed folder only files are listed: at most an
   * empty folder comes back then.
   */
  atRisk(matters: (path: string) => boolean): string[] {
    const found: string[] = []
    const walkRemoved = (node: Node | undefined, path: string) => {
      if (!node?.isFolder) {
        if (matters(path)) found.push(`removal of ${path}`)
        return
      }
      for (const name of node.changed)
        if (!node.entries.has(name)) walkRemoved(node.removed.get(name), `${path}/${name}`)
    }
    const walk = (node: Node, path: string, isNamed: boolean) => {
      for (const name of node.changed)
        if (!node.entries.has(name)) walkRemoved(node.removed.get(name), `${path}${name}`)
      for (const [name, entry] of node.entries) {
        const at = `${path}${name}`
        const lasts = isNamed && !node.changed.has(name)
        if (matters(at) && !lasts) found.push(`name of ${at}`)
        if (matters(at) && entry.unsynced) found.push(`content of ${at}`)
        walk(entry, `${at}/`, lasts)
      }
    }
    walk(this.#top, '', true)
    return found
  }
}
