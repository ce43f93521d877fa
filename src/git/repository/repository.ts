import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import type { Child } from '../runner/child.ts'
import type { RunOptions } from '../runner/client.ts'
import { argvFor, type GitArgs, type Subcommand, writesRepository } from '../runner/command.ts'
import { GitError, gitFailure } from '../runner/git-error.ts'
import { Helper } from '../runner/helper.ts'
import { type Patience, usualPatience } from '../runner/patience.ts'
import type { GitContext } from './context.ts'

export type Command = GitArgs & Pick<RunOptions, 'env' | 'lane' | 'nested' | 'timeoutMs'>

export type RunCommand = Command & {
  /** Written to stdin, all at once. */
  input?: Buffer | string
  /** Exit codes that are an answer rather than a failure. Default `[0]`. */
  accept?: readonly number[]
  /** More output than this is a `Failure('too_large')`. Default 64 MiB. */
  maxOutputBytes?: number
}

export type Output = { readonly stdout: Buffer; readonly stderr: string; readonly code: number }

type RepositoryOptions = {
  /** Of the project that it belongs to. */
  key?: string
  objectDir?: string
  env?: Record<string, string>
  /** The one that this is, for somebody else. */
  same?: Repository
  gone?: AbortSignal
  caller?: string
}

let handles = 0

const missing = () => new Failure('unprocessable', 'The repository does not exist')

/** One bare repository on disk, or the place of one that does not exist yet. Cheap to make; holds no lock. */
export class Repository {
  readonly git: GitContext
  readonly gitDir: string
  /** Where new objects go. */
  readonly objectDir: string
  /** Sets apart what is remembered of this repository: an object must not be readable where it is not. */
  readonly cacheKey: string
  /** When whoever asks has left. */
  readonly gone: AbortSignal | undefined
  /** Whose share of the git processes is used: an account or client address; '' for the service itself. */
  readonly caller: string
  readonly #env: Record<string, string> | undefined
  readonly #presence: { isSure: boolean }
  readonly #key: string

  constructor(git: GitContext, gitDir: string, { key, objectDir, env, same, gone, caller }: RepositoryOptions = {}) {
    this.git = git
    this.gitDir = gitDir
    this.objectDir = same?.objectDir ?? objectDir ?? join(gitDir, 'objects')
    this.cacheKey = same?.cacheKey ?? `${++handles}:`
    this.gone = gone
    this.caller = caller ?? same?.caller ?? ''
    this.#env = same ? same.#env : env
    this.#presence = same ? same.#presence : { isSure: false }
    this.#key = (same ? same.#key : key) ?? ''
  }

  /**
   * This repository for a caller who may leave: then the processes that were started for it end, and their readers get the
   * reason of `gone`. Processes that serve all callers live on.
   */
  until(gone: AbortSignal | undefined): Repository {
    return gone ? new Repository(this.git, this.gitDir, { same: this, gone }) : this
  }

  /** This repository, with processes from the share of this caller. */
  for(caller: string): Repository {
    if (caller === this.caller) return this
    return new Repository(this.git, this.gitDir, { same: this, caller, ...(this.gone && { gone: this.gone }) })
  }

  /** What is asked of a push takes its time, as the push does. */
  #patience(): Patience {
    return this.#env ? usualPatience : this.git.patience()
  }

  /** Whether the repository was made. One `stat`, and none once it was there. */
  async exists(): Promise<boolean> {
    if (this.#presence.isSure) return true
    this.#presence.isSure = await stat(join(this.gitDir, 'HEAD')).then(
      () => true,
      () => false,
    )
    return this.#presence.isSure
  }

  /** For who finds that the directory is gone: the next question looks again. */
  lookAgain(): void {
    this.#presence.isSure = false
  }

  /** The directory to read from: the shared empty repository while this one does not exist. */
  async readDir(): Promise<string> {
    return (await this.exists()) ? this.gitDir : this.git.emptyDir()
  }

  /** Starts a git process on this repository. The caller reads it to its end or kills it. */
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
      // Asked of the objects of a push, whose own process holds a slot until there is an answer.
      nested: this.#env !== undefined && options.lane === 'transfer',
      timeoutMs: this.#patience().processMs,
      ...options,
      ...(this.gone && { gone: this.gone }),
      env: { ...this.#env, ...options.env },
    })
  }

  /**
   * Runs a git process to its end (2-3 ms and its own time). Throws `GitError` unless its exit code is accepted,
   * `Failure('storage_full')` when the disk is full,
   * `Failure('unavailable')` when it passed its deadline, and `Failure('too_large')` when it said too much.
   */
  async run(
    subcommand: Subcommand,
    { input, accept = [0], maxOutputBytes = 64 * 1024 * 1024, ...command }: RunCommand = {},
  ): Promise<Output> {
    const child = await this.start(subcommand, { ...command, stdin: input !== undefined })
    if (input !== undefined) child.end(input)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of child as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxOutputBytes) {
        child.kill('SIGKILL')
        throw new Failure('too_large', 'The result is too large')
      }
      chunks.push(chunk)
    }
    const { code, signal, stderr, timedOut } = await child.done
    if (timedOut)
      throw new Failure('unavailable', 'The operation took too long', {
        cause: new GitError(subcommand, code, signal, stderr),
      })
    if (code === null || !accept.includes(code)) {
      // It may have been removed under us: the next call looks again.
      this.#presence.isSure = false
      throw gitFailure(subcommand, { code, signal, stderr })
    }
    return { stdout: Buffer.concat(chunks), stderr, code }
  }

  /**
   * A long-lived process of this repository, shared by all who name it alike; it ends when it is idle. Its questions are
   * asked again after a death only if the subcommand changes nothing.
   */
  async helper(name: string, subcommand: Subcommand, args: GitArgs): Promise<Helper> {
    const gitDir = await this.readDir()
    if (gitDir !== this.gitDir && writesRepository(subcommand)) throw missing()
    const pool = this.git.helpers
    return pool.take(`${gitDir}\0${this.#env ? this.cacheKey : this.#key}${name}`, () => {
      const env = this.#env
      return new Helper({
        start: () =>
          this.git.runner.start([`--git-dir=${gitDir}`, ...argvFor(subcommand, args)], {
            owner: this.gitDir,
            lane: 'helper',
            timeoutMs: 0,
            stdin: true,
            ...(env && { env }),
          }),
        timeoutMs: () => this.#patience().answerMs,
        repeatable: !writesRepository(subcommand),
        onIdle: () => pool.trim(),
      })
    })
  }

  /** The shared `cat-file` of this repository, for `objectInfo` and `objectContent`. */
  objects(): Promise<Helper> {
    return this.helper('cat-file', 'cat-file', { flags: ['--batch-command', '-z'] })
  }

  /**
   * This repository, with the objects of `objectDir` as well, which a push put there and git has not accepted yet.
   * Moves no refs. Dispose it before the verdict.
   */
  inQuarantine(objectDir: string): QuarantinedRepository {
    return new QuarantinedRepository(this, objectDir)
  }
}

/** See `Repository.inQuarantine`. */
export class QuarantinedRepository extends Repository {
  constructor(repo: Repository, objectDir: string) {
    super(repo.git, repo.gitDir, {
      objectDir,
      caller: repo.caller,
      env: {
        GIT_OBJECT_DIRECTORY: objectDir,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoteAlternate(join(repo.gitDir, 'objects')),
        // With this set, git refuses to move refs.
        GIT_QUARANTINE_PATH: objectDir,
      },
    })
  }

  /** Ends its helpers. Resolves when no process of ours has the folder open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.git.helpers.close(`${this.gitDir}\0${this.cacheKey}`)
  }
}

/** An entry of `GIT_ALTERNATE_OBJECT_DIRECTORIES`: a list with `:` between its entries, where one in quotes may hold anything. */
export const quoteAlternate = (path: string) =>
  /^"|[:\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path
