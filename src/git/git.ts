import { cp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import { makeFolder, syncFolder, syncTree } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { isMissing, missingAs } from '../kernel/missing.ts'
import type { CachedGraph } from './commit-graph/commit-graph.ts'
import { branchRef } from './format/ref-name.ts'
import { createBareRepository, type NewRepository } from './repository/bare-repository.ts'
import type { Cache, GitContext } from './repository/context.ts'
import { removeLeftoversOf, removeOldLeftovers, temporaryName } from './repository/leftovers.ts'
import { Repository } from './repository/repository.ts'
import type { SharedWork } from './repository/shared-work.ts'
import type { Runner } from './runner/client.ts'
import { HelperPool } from './runner/helper-pool.ts'
import { RunningPushes } from './runner/running-pushes.ts'
import { defaultTimeouts, type Timeouts } from './runner/timeouts.ts'
import { FetchSharing, type FetchSharingOptions } from './sharing/fetch-sharing.ts'

export type GitOptions = {
  /** Cache size for parsed objects of all repositories. Default 64 MiB. */
  cacheBytes?: number
  /**
   * Cache size for commit-graphs of all repositories, about 80 bytes per commit; git reads larger graphs itself. Default 64
   * MiB.
   */
  graphBytes?: number
  /** Maximum long-lived git processes of this server process, over all repositories. Default 16. */
  maxHelpers?: number
  /** Idle time in milliseconds after which a helper ends. Default 15 s. */
  helperIdleMs?: number
  /** Age in milliseconds after which a helper is replaced, however much it is used. Default one minute. */
  helperMaxAgeMs?: number
  /** Called for each command. */
  timeouts?: () => Timeouts
  /** Equal fetches share a response. Without it, each has its own. */
  sharing?: FetchSharingOptions
}

/** Longer than it takes to create a repository. */
const leftoverMs = 60 * 60_000

/** Runs git for one server process. Does not own the runner connection it is given. */
export class Git implements GitContext {
  readonly runner: Runner
  readonly helpers: HelperPool
  readonly timeouts: () => Timeouts
  readonly cache: Cache
  readonly inFlight = new Map<string, SharedWork<object | undefined>>()
  readonly graphs: LRUCache<string, CachedGraph>
  readonly sharing: FetchSharing | undefined
  readonly pushes = new RunningPushes()
  readonly #open = new LRUCache<string, Repository>({ max: 10_000 })
  #emptyDir: Promise<string> | undefined

  constructor(runner: Runner, options: GitOptions = {}) {
    this.runner = runner
    this.helpers = new HelperPool({
      max: options.maxHelpers ?? 16,
      idleMs: options.helperIdleMs ?? 15_000,
      maxAgeMs: options.helperMaxAgeMs ?? 60_000,
    })
    this.timeouts = options.timeouts ?? (() => defaultTimeouts)
    this.cache = new LRUCache({ maxSize: Math.floor(options.cacheBytes ?? 64 * 1024 * 1024) })
    this.graphs = new LRUCache({ maxSize: options.graphBytes ?? 64 * 1024 * 1024 })
    this.sharing = options.sharing && new FetchSharing(options.sharing)
  }

  /**
   * Opens the repository in the directory `gitDir`, without a process or disk access. One that does not exist reads as empty
   * until `ensureRepository` creates it. `key` separates the caches of successive repositories at the same path; without it, a
   * path must not be reused unless `removeRepository` removed the previous one.
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
   * Creates an empty bare repository if it does not exist; takes about a millisecond, no process. Idempotent, also
   * concurrently. `defaultBranch` must be a valid branch name; it and `key` apply only to a new repository. True if it was
   * created.
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
   * Removes the repository, its cached data and leftovers of crashes. Renames it first, so that it disappears at once. No error
   * if absent.
   */
  async removeRepository(gitDir: string): Promise<void> {
    const path = resolve(gitDir)
    const removed = temporaryName(path, 'removed')
    this.#forget(path)
    await rename(path, removed).catch(missingAs(undefined))
    await this.helpers.close(`${path}\0`)
    await rm(removed, { recursive: true, force: true })
    await removeLeftoversOf(path)
  }

  /** Moves a complete repository from elsewhere in the same storage to its final path, durably. Throws if the path exists. */
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

  /** Moves a repository durably to an unused path, of another file system by a copy. False if the repository does not exist. */
  async moveAway(from: string, to: string): Promise<boolean> {
    const [source, target] = [resolve(from), resolve(to)]
    await makeFolder(dirname(target), 0o700)
    try {
      await rename(source, target)
    } catch (error) {
      if (isMissing(error)) return false
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      await copyTree(source, target)
      await this.removeRepository(source)
    }
    for (const folder of [target, source]) await syncFolder(dirname(folder))
    this.#forget(source)
    await this.helpers.close(`${source}\0`)
    return true
  }

  /** Beside the socket of the runner, one for all processes: a killed process leaves no other. */
  emptyDir(): Promise<string> {
    this.#emptyDir ??= (async () => {
      const folder = dirname(this.runner.socketPath)
      await removeOldLeftovers(folder, leftoverMs)
      const empty = join(folder, 'empty.git')
      await createBareRepository(empty, { defaultBranch: 'main' })
      return empty
    })()
    // On a full disk, for example: the next caller tries again.
    this.#emptyDir.catch(() => {
      this.#emptyDir = undefined
    })
    return this.#emptyDir
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pushes.end()
    await this.helpers[Symbol.asyncDispose]()
    await this.sharing?.[Symbol.asyncDispose]()
    this.cache.clear()
    this.graphs.clear()
    this.#open.clear()
  }
}

/** Copies a folder durably. The copy has its name once it is complete. */
async function copyTree(from: string, to: string): Promise<void> {
  const temporary = temporaryName(to, 'new')
  try {
    await cp(from, temporary, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    await syncTree(temporary)
    await rename(temporary, to)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}
