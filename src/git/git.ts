import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import { makeFolder, syncFolder, syncTree } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import type { KeptGraph } from './commit-graph/commit-graph.ts'
import { branchRef } from './format/ref-name.ts'
import { createBareRepository, type NewRepository } from './repository/bare-repository.ts'
import type { Cache, GitContext } from './repository/context.ts'
import { removeLeftoversOf, temporaryName } from './repository/leftovers.ts'
import { Repository } from './repository/repository.ts'
import type { SharedWork } from './repository/shared-work.ts'
import type { Runner } from './runner/client.ts'
import { HelperPool } from './runner/helper-pool.ts'
import { type Patience, usualPatience } from './runner/patience.ts'

export type GitOptions = {
  /** Memory for parsed objects of all repositories. Default 64 MiB. */
  cacheBytes?: number
  /**
   * Memory for commit-graphs of all repositories, about 80 bytes a commit; what is larger is left to git. Default 64
   * MiB.
   */
  graphBytes?: number
  /** Long-lived git processes of this server process, over all repositories. Default 64. */
  maxHelpers?: number
  /** After how long without a question a helper ends. Default 30 s. */
  helperIdleMs?: number
  /** Asked each time. */
  patience?: () => Patience
}

/** Everything that runs git, for one server process. Does not own the runner connection it is given. */
export class Git implements GitContext {
  readonly runner: Runner
  readonly helpers: HelperPool
  readonly patience: () => Patience
  readonly cache: Cache
  readonly making = new Map<string, SharedWork<object | undefined>>()
  readonly graphs: LRUCache<string, KeptGraph>
  readonly #open = new LRUCache<string, Repository>({ max: 10_000 })
  #emptyDir: Promise<string> | undefined

  constructor(runner: Runner, options: GitOptions = {}) {
    this.runner = runner
    this.helpers = new HelperPool({ max: options.maxHelpers ?? 64, idleMs: options.helperIdleMs ?? 30_000 })
    this.patience = options.patience ?? (() => usualPatience)
    this.cache = new LRUCache({ maxSize: options.cacheBytes ?? 64 * 1024 * 1024 })
    this.graphs = new LRUCache({ maxSize: options.graphBytes ?? 64 * 1024 * 1024 })
  }

  /**
   * The repository in the directory `gitDir`. Costs nothing: no process, no disk. One that does not exist reads as an
   * empty one, until `ensureRepository` makes it. `key` sets apart what is remembered of repositories that are at one
   * path one after the other; without it, a path must not be used again unless `removeRepository` removed the first.
   */
  open(gitDir: string, key = ''): Repository {
    const path = resolve(gitDir)
    const name = `${path}\0${key}`
    const known = this.#open.get(name)
    if (known) return known
    const repo = new Repository(this, path, { key })
    this.#open.set(name, repo)
    return repo
  }

  #forget(path: string): void {
    this.graphs.delete(path)
    for (const name of [...this.#open.keys()]) if (name.startsWith(`${path}\0`)) this.#open.delete(name)
  }

  /**
   * Makes an empty bare repository unless there is one: no process, about a millisecond. Safe to run twice and at once.
   * `defaultBranch` must be a valid branch name; like `key`, it only counts for a new repository. True when it was made.
   */
  async ensureRepository(gitDir: string, made: NewRepository): Promise<boolean> {
    const path = resolve(gitDir)
    if (branchRef(made.defaultBranch) === undefined)
      throw new Failure('invalid', 'The default branch is not a valid branch name')
    if (await this.open(path, made.key).exists()) return false
    await makeFolder(dirname(path))
    return createBareRepository(path, made)
  }

  /**
   * Removes the repository and what is remembered of it, with what a crash left of it: renamed away first, so it is gone at once.
   * Absent is fine.
   */
  async removeRepository(gitDir: string): Promise<void> {
    const path = resolve(gitDir)
    const doomed = temporaryName(path, 'removed')
    this.#forget(path)
    await rename(path, doomed).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    await this.helpers.close(`${path}\0`)
    await rm(doomed, { recursive: true, force: true })
    await removeLeftoversOf(path)
  }

  /**
   * Puts a repository that was made elsewhere in the same storage into its place, whole and durably. Throws when something
   * is there already.
   */
  async placeRepository(from: string, to: string): Promise<void> {
    const [source, target] = [resolve(from), resolve(to)]
    await this.helpers.close(`${source}\0`)
    await makeFolder(dirname(target))
    await syncTree(source)
    await rename(source, target)
    await syncFolder(dirname(target))
    this.#forget(source)
    this.#forget(target)
  }

  /**
   * Moves a repository out of its place, to a name that is free in a folder of the same file system, durably. False when
   * nothing is there.
   */
  async moveAway(from: string, to: string): Promise<boolean> {
    const [source, target] = [resolve(from), resolve(to)]
    await makeFolder(dirname(target), 0o700)
    try {
      await rename(source, target)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
    for (const folder of [target, source]) await syncFolder(dirname(folder))
    this.#forget(source)
    await this.helpers.close(`${source}\0`)
    return true
  }

  emptyDir(): Promise<string> {
    this.#emptyDir ??= (async () => {
      const folder = await mkdtemp(join(tmpdir(), 'stithy-empty-'))
      await createBareRepository(join(folder, 'empty.git'), { defaultBranch: 'main' })
      return join(folder, 'empty.git')
    })()
    return this.#emptyDir
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.helpers[Symbol.asyncDispose]()
    this.cache.clear()
    this.graphs.clear()
    this.#open.clear()
    const empty = await this.#emptyDir?.catch(() => undefined)
    if (empty !== undefined) await rm(join(empty, '..'), { recursive: true, force: true })
  }
}
