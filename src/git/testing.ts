import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSync } from '../../test/programs/run.ts'
import type { Oid } from './format/oid.ts'
import { pathToBytes } from './format/path-bytes.ts'
import { Git, type GitOptions } from './git.ts'
import type { Repository } from './repository/repository.ts'
import { Runner } from './runner/client.ts'
import { type RunnerProcess, startRunner } from './runner/start.ts'

/** Content, or an entry with a mode. `null` deletes. */
export type TestFile =
  | string
  | Buffer
  | null
  | { mode: '100755' | '120000'; content: string }
  | { mode: '160000'; oid: Oid }

export type TestCommit = {
  branch?: string
  message?: string
  seconds?: number
  parents?: readonly Oid[]
  author?: string
}

/** A runner, a connection to it, and a folder for repositories, for tests. */
export class TestGit {
  readonly folder: string
  readonly process: RunnerProcess
  readonly runner: Runner
  readonly git: Git

  private constructor(folder: string, process: RunnerProcess, runner: Runner, options: GitOptions) {
    this.folder = folder
    this.process = process
    this.runner = runner
    this.git = new Git(runner, options)
  }

  static async start(options: GitOptions = {}): Promise<TestGit> {
    const folder = await mkdtemp(join(tmpdir(), 'stithy-git-'))
    const process = await startRunner({ socketPath: join(folder, 'runner.sock') })
    return new TestGit(folder, process, await Runner.connect(process.socketPath), options)
  }

  /** Creates an empty repository. */
  async repository(): Promise<TestRepository> {
    // No other repository has the name, so that no git process of a test beside this one seems to be in it (`mayBeChanging`).
    const gitDir = join(this.folder, `${randomUUID()}.git`)
    await this.git.ensureRepository(gitDir, { defaultBranch: 'main' })
    return new TestRepository(this.git.open(gitDir))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.git[Symbol.asyncDispose]()
    await this.runner[Symbol.asyncDispose]()
    await this.process[Symbol.asyncDispose]()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A repository that real git writes to, beside the code under test. */
export class TestRepository {
  readonly repo: Repository
  #clock = 1_700_000_000

  constructor(repo: Repository) {
    this.repo = repo
  }

  get gitDir(): string {
    return this.repo.gitDir
  }

  /** Runs real git on it; returns its output without the last newline. */
  git(...args: string[]): string {
    return gitIn(this.gitDir, args)
  }

  /** Commits to a branch (`main`), on top of its head unless `parents` is given, one second later than the previous commit. */
  commit(
    files: Record<string, TestFile>,
    { branch = 'main', message = 'Change', seconds, parents, author = 'Ann <ann@example.com>' }: TestCommit = {},
  ): Oid {
    const at = seconds ?? this.#clock++
    const ref = `refs/heads/${branch}`
    const from = parents ?? [looseRef(this.gitDir, ref) ?? this.git('for-each-ref', '--format=%(objectname)', ref)]
    const parts: (string | Buffer)[] = [
      `commit ${ref}\nmark :1\nauthor ${author} ${at} +0100\ncommitter Cid <cid@example.com> ${at} +0000\n${data(message)}`,
      ...from.filter(Boolean).map((oid, index) => `${index === 0 ? 'from' : 'merge'} ${oid}\n`),
    ]
    for (const [path, file] of Object.entries(files)) {
      if (file === null) parts.push('D ', quoted(path), '\n')
      else if (typeof file === 'string' || Buffer.isBuffer(file))
        parts.push('M 100644 inline ', quoted(path), '\n', ...dataParts(file))
      else if ('oid' in file) parts.push(`M ${file.mode} ${file.oid} `, quoted(path), '\n')
      else parts.push(`M ${file.mode} inline `, quoted(path), '\n', ...dataParts(file.content))
    }
    parts.push('get-mark :1\n')
    const input = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
    return gitIn(this.gitDir, ['fast-import', '--quiet', '--force'], input) as Oid
  }
}

/** Contents of the file of a ref, which is faster than git; undefined if the ref is packed or does not exist. */
function looseRef(gitDir: string, ref: string): string | undefined {
  try {
    const text = readFileSync(join(gitDir, ref), 'utf8')
    return /^[0-9a-f]{40}\n$/.test(text) ? text.trim() : undefined
  } catch {
    return undefined
  }
}

/** The environment of git in tests, without the developer's settings. */
export const testEnv = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}

export const gitIn = (directory: string, args: readonly string[], input: Buffer | string = ''): string =>
  runSync('git', ['-C', directory, ...args], { input, env: testEnv }).stdout.replace(/\n$/, '')

const dataParts = (content: string | Buffer) => [`data ${Buffer.byteLength(content)}\n`, content, '\n']
const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`

/** A quoted path for fast-import, with unusual bytes as octal digits. */
const quoted = (path: string) =>
  `"${[...pathToBytes(path)].map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`)).join('')}"`
