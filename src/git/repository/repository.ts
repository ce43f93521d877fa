import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import { missingAs } from '../../kernel/missing.ts'
import { removeGraph, saysBrokenGraph } from '../commit-graph/removal.ts'
import { type RecordFormat, recordsOf } from '../format/records.ts'
import type { Child } from '../runner/child.ts'
import { RunnerLost, type RunOptions } from '../runner/client.ts'
import { argvFor, type GitArgs, type Subcommand, writesRepository } from '../runner/command.ts'
import { damage, damageIn, isEndOfDamaged, saysError, wasKilled } from '../runner/damage.ts'
import { settingsEnv } from '../runner/environment.ts'
import { GitError, gitFailure } from '../runner/git-error.ts'
import { Helper } from '../runner/helper.ts'
import type { Exit } from '../runner/protocol.ts'
import { defaultTimeouts, type Timeouts } from '../runner/timeouts.ts'
import type { GitContext } from './context.ts'
import { repairInBackground, repairIndexes } from './damaged-indexes.ts'

export type Command = GitArgs & Pick<RunOptions, 'background' | 'env' | 'lane' | 'nested' | 'timeoutMs'>

export type ReadCommand = Command & {
  /** Written to stdin, all at once. */
  input?: Buffer | string
  /** Exit codes that are not failures. Default `[0]`. */
  accept?: readonly number[]
  /**
   * Fails also if git reported an error and then ended as if there had been none: it takes some objects that it cannot read for empty ones, and a
   * commit for one without parents. For answers in which nothing may be missing.
   */
  strict?: boolean
}

export type RunCommand = ReadCommand & {
  /** Maximum output; `Failure('too_large')` beyond it. Default 64 MiB. */
  maxOutputBytes?: number
}

export type Output = { readonly stdout: Buffer; readonly stderr: string; readonly code: number }

type RepositoryOptions = {
  /** Key of the project that owns the repository. */
  key?: string
  objectDir?: string
  base?: Repository
  env?: Record<string, string>
  /** Copies this repository, for another caller or signal. */
  same?: Repository
  signal?: AbortSignal
  caller?: string
  isNested?: boolean
}

let handles = 0

const missing = (options?: ErrorOptions) => new Failure('unprocessable', 'The repository does not exist', options)

/** A bare repository on disk, or the path of one that does not exist yet. Cheap to create; holds no lock. */
export class Repository {
  readonly git: GitContext
  readonly gitDir: string
  /** Folder for new objects. */
  readonly objectDir: string
  /** The repository without the objects of the push, for one with them. */
  readonly base: Repository | undefined
  /** Prefix that separates the cached data of repositories: an object must not be readable through another repository. */
  readonly cacheKey: string
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal | undefined
  /** The caller whose share of git processes is used: an account or client address; '' for the service itself. */
  readonly caller: string
  /** Transfers are part of work that already holds a slot of the lane, and start without waiting. */
  readonly #isNested: boolean
  readonly #env: Record<string, string> | undefined
  readonly #presence: { isSure: boolean }
  readonly #key: string

  constructor(
    git: GitContext,
    gitDir: string,
    { key, objectDir, base, env, same, signal, caller, isNested }: RepositoryOptions = {},
  ) {
    this.git = git
    this.gitDir = gitDir
    this.objectDir = same?.objectDir ?? objectDir ?? join(gitDir, 'objects')
    this.base = same?.base ?? base
    this.cacheKey = same?.cacheKey ?? `${++handles}:`
    this.signal = signal
    this.caller = caller ?? same?.caller ?? ''
    this.#env = same ? same.#env : env
    this.#isNested = isNested ?? (same ? same.#isNested : false)
    this.#presence = same ? same.#presence : { isSure: false }
    this.#key = (same ? same.#key : key) ?? ''
  }

  /** The same in all server processes, and of no other repository. Without a key, another may have had the path before. */
  get name(): string {
    return `${this.gitDir}\0${this.#key || `${process.pid} ${this.cacheKey}`}`
  }

  /**
   * This repository with a signal: when it aborts, the processes started for the caller end, and their readers get its reason.
   * Shared processes continue.
   */
  withSignal(signal: AbortSignal | undefined): Repository {
    return signal ? new Repository(this.git, this.gitDir, { same: this, signal }) : this
  }

  /** This repository, with processes from the share of this caller. */
  for(caller: string): Repository {
    if (caller === this.caller) return this
    return new Repository(this.git, this.gitDir, { same: this, caller, ...(this.signal && { signal: this.signal }) })
  }

  /** This repository for work that holds a slot of transfers already, so that it never waits for its own slot. */
  nested(): Repository {
    const signal = this.signal && { signal: this.signal }
    return new Repository(this.git, this.gitDir, { same: this, isNested: true, ...signal })
  }

  /** Commands during a push use the default timeouts, however low the configured ones are. */
  #timeouts(): Timeouts {
    return this.#env ? defaultTimeouts : this.git.timeouts()
  }

  /** Whether the repository exists. One `stat`; none once it was found to exist. */
  async exists(): Promise<boolean> {
    // One that has lost its HEAD is damaged. It must not seem empty: mirrors would delete their copies.
    this.#presence.isSure ||= (await this.#has('HEAD')) || (await this.#has('config'))
    return this.#presence.isSure
  }

  #has(file: string): Promise<boolean> {
    return stat(join(this.gitDir, file)).then(() => true, missingAs(false))
  }

  /** Forgets that the repository exists, so that the next call checks again. */
  lookAgain(): void {
    this.#presence.isSure = false
  }

  /** The failure for work that found a folder of the repository missing: it has been deleted meanwhile. The next call checks again. */
  lost(cause: unknown): Failure {
    this.lookAgain()
    return missing({ cause })
  }

  /** The failure for an object that is not there, although a ref or another object refers to it. */
  damage(lost: string): Failure {
    repairInBackground(this)
    return damage(lost)
  }

  /**
   * Throws if a process failed: as `gitFailure`, or as `lost` if the repository, which was there before (`wasThere`), has been deleted
   * meanwhile. If the repository is damaged, its repair begins.
   */
  async requireSuccess(
    subcommand: string,
    exit: Exit,
    {
      accept = [0],
      strict = false,
      wasThere = true,
    }: Pick<ReadCommand, 'accept' | 'strict'> & { wasThere?: boolean } = {},
  ): Promise<void> {
    const isAccepted = exit.code !== null && accept.includes(exit.code) && !(strict && saysError(exit.stderr))
    if (!exit.timedOut && isAccepted) return
    const failure = gitFailure(subcommand, exit)
    if (wasThere && !exit.timedOut) {
      this.lookAgain()
      if (!(await this.exists())) throw this.lost(failure)
    }
    if (damageIn(failure)) repairInBackground(this)
    throw failure
  }

  /** The directory to read from: the shared empty repository as long as this one does not exist. */
  async readDir(): Promise<string> {
    return (await this.exists()) ? this.gitDir : this.git.emptyDir()
  }

  /** Starts a git process on this repository. The caller must read it to its end or kill it. */
  async start(
    subcommand: Subcommand,
    { flags, args, paths, ...options }: Command & { stdin?: boolean; extra?: boolean } = {},
  ): Promise<Child> {
    const words = argvFor(subcommand, { ...(flags && { flags }), ...(args && { args }), ...(paths && { paths }) })
    const gitDir = await this.readDir()
    if (gitDir !== this.gitDir && writesRepository(subcommand)) throw missing()
    return this.git.runner.start([`--git-dir=${gitDir}`, ...words], {
      owner: this.gitDir,
      caller: this.caller,
      nested: this.#isNested && options.lane === 'transfer',
      timeoutMs: this.#timeouts().processMs,
      ...options,
      ...(this.signal && { signal: this.signal }),
      env: { ...this.#env, ...options.env },
    })
  }

  /** Starts a git process; its end is checked by `requireSuccess`. */
  async #begin(subcommand: Subcommand, { input, accept = [0], strict = false, ...command }: ReadCommand) {
    const wasThere = await this.exists()
    const child = await this.start(subcommand, { ...command, stdin: input !== undefined })
    if (input !== undefined) child.end(input)
    return {
      child,
      requireSuccess: (exit: Exit) => this.requireSuccess(subcommand, exit, { accept, strict, wasThere }),
    }
  }

  /** Starts a git process for its output. The stream fails as `run` if the process does, and ends the process when it is destroyed. */
  async stream(subcommand: Subcommand, command: ReadCommand = {}): Promise<Child> {
    const { child, requireSuccess } = await this.#begin(subcommand, command)
    return child.failing(requireSuccess)
  }

  /**
   * The output of a git process as it comes. Fails as `run` at its end, and begins once more like `run` if nothing has come before. The
   * process ends when the loop is left.
   */
  async *read(subcommand: Subcommand, command: ReadCommand = {}): AsyncGenerator<Buffer> {
    const { output, first } = await this.repeating(subcommand, async () => {
      const output = this.#readOnce(subcommand, command)
      return { output, first: await output.next() }
    })
    try {
      for (let next = first; !next.done; next = await output.next()) yield next.value
    } finally {
      await output.return(undefined)
    }
  }

  async *#readOnce(subcommand: Subcommand, command: ReadCommand): AsyncGenerator<Buffer> {
    const { child, requireSuccess } = await this.#begin(subcommand, command)
    yield* child as AsyncIterable<Buffer>
    await requireSuccess(await child.done)
  }

  /** What `read` reads, in records without their ends; a batch has those that have come. */
  records(subcommand: Subcommand, command: ReadCommand, format: RecordFormat): AsyncGenerator<Buffer[]> {
    return recordsOf(this.read(subcommand, command), format)
  }

  /**
   * Runs a git process to its end (2-3 ms plus its own time), and once more as `repeating` says. Throws `GitError` for an exit code that is
   * not accepted, `Failure('storage_full')` if the disk is full, `GitTimeout` on timeout, `Failure('too_large')` beyond the maximum output,
   * and `Failure('unprocessable')` if the repository was removed meanwhile.
   */
  run(subcommand: Subcommand, command: RunCommand = {}): Promise<Output> {
    return this.repeating(subcommand, () => this.#runOnce(subcommand, command))
  }

  async #runOnce(
    subcommand: Subcommand,
    { maxOutputBytes = 64 * 1024 * 1024, ...command }: RunCommand,
  ): Promise<Output> {
    const { child, requireSuccess } = await this.#begin(subcommand, command)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of child as AsyncIterable<Buffer>) {
      size += chunk.length
      // Leaving the loop ends the process.
      if (size > maxOutputBytes) throw new Failure('too_large', 'The result is too large')
      chunks.push(chunk)
    }
    const exit = await child.done
    await requireSuccess(exit)
    return { stdout: Buffer.concat(chunks), stderr: exit.stderr, code: exit.code! }
  }

  /**
   * Does work of a git process again if it failed because of a damaged commit-graph or index, which is removed, or if it only reads and the
   * runner ended or git was killed.
   */
  async repeating<T>(subcommand: Subcommand, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(await this.#mayRepeat(subcommand, error))) throw error
      return work()
    }
  }

  async #mayRepeat(subcommand: Subcommand, error: unknown): Promise<boolean> {
    if (error instanceof RunnerLost || wasKilled(error)) return !writesRepository(subcommand)
    if (!(error instanceof GitError && damageIn(error))) return false
    if (saysBrokenGraph(error.stderr)) {
      await removeGraph(this.gitDir)
      return true
    }
    // Of a push the objects may be incomplete, which no index has to do with. The repair has begun.
    return !this.base && (await repairIndexes(this)).hasRemoved
  }

  /**
   * A long-lived process of this repository, shared by all callers that use the same name; ends when idle. A question whose
   * process died is repeated only if the subcommand writes nothing. `flush` is for subcommands that answer when
   * they read it.
   */
  async helper(name: string, subcommand: Subcommand, args: GitArgs, flush?: Buffer): Promise<Helper> {
    const gitDir = await this.readDir()
    if (gitDir !== this.gitDir && writesRepository(subcommand)) throw missing()
    const pool = this.git.helpers
    return pool.take(`${gitDir}\0${this.#env ? this.cacheKey : this.#key}${name}`, () => {
      const env = this.#env
      return new Helper({
        start: async (last) => {
          if (last && isEndOfDamaged(last) && !writesRepository(subcommand)) await repairIndexes(this)
          return this.git.runner.start([`--git-dir=${gitDir}`, ...argvFor(subcommand, args)], {
            owner: this.gitDir,
            lane: 'helper',
            timeoutMs: 0,
            stdin: true,
            env: { ...env, ...settingsEnv(helperSettings) },
          })
        },
        timeoutMs: () => this.#timeouts().answerMs,
        repeatable: !writesRepository(subcommand),
        ...(flush && { flush }),
        onIdle: () => pool.trim(),
      })
    })
  }

  /** The shared `cat-file` of this repository, for `objectInfo` and `objectContent`. */
  objects(): Promise<Helper> {
    return this.helper('cat-file', 'cat-file', { flags: ['--batch-command', '--buffer', '-z'] }, flushObjects)
  }

  /**
   * This repository with the objects of `objectDir`, where git quarantines the objects of a push until it is accepted. Cannot
   * move refs. Dispose it before answering the hook. `holdsSlot`: the push has a slot of transfers until then, so that what examines it
   * does not wait for one.
   */
  inQuarantine(objectDir: string, { holdsSlot = true } = {}): QuarantinedRepository {
    return new QuarantinedRepository(this, objectDir, holdsSlot || this.#isNested)
  }
}

/** A helper keeps what it has read of deltas as long as it lives. */
const helperSettings = [['core.deltaBaseCacheLimit', '8m']] as const

const flushObjects = Buffer.from('flush\0')

/** See `Repository.inQuarantine`. */
export class QuarantinedRepository extends Repository {
  declare readonly base: Repository

  constructor(repo: Repository, objectDir: string, isNested: boolean) {
    super(repo.git, repo.gitDir, {
      objectDir,
      isNested,
      base: repo,
      caller: repo.caller,
      env: {
        GIT_OBJECT_DIRECTORY: objectDir,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoteAlternate(join(repo.gitDir, 'objects')),
        // If this is set, git refuses to move refs.
        GIT_QUARANTINE_PATH: objectDir,
      },
    })
  }

  /** Ends its helpers. Resolves when none of them has the folder open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.git.helpers.close(`${this.gitDir}\0${this.cacheKey}`)
  }
}

/** An entry of `GIT_ALTERNATE_OBJECT_DIRECTORIES`, a list separated by `:`; quoted entries may contain any character. */
export const quoteAlternate = (path: string) =>
  /^"|[:\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path
