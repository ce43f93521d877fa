import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { locate } from '../../../../test/contexts.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { changeProject, lockProject } from '../../../../test/tables/projects.ts'
import { waitMs } from '../../../../test/waiting.ts'
import type { Client, TestGroup, World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { TestRepository } from '../../../git/testing.ts'
import { openForWriting } from '../../projects/repositories/open.ts'

export type StoredProject = { id: number; full_path: string; repository: TestRepository }

/** A project of the first administrator; `main` is its default branch, although it has no commit yet. */
export async function storedProject(
  world: World,
  {
    visibility = 'public',
    members = [],
    group,
  }: { visibility?: Visibility; members?: readonly [Client, Level][]; group?: TestGroup } = {},
): Promise<StoredProject> {
  const { id, full_path } = await world.project({ visibility, members, ...(group && { group }) })
  await changeProject(world, id, { default_branch: 'main' })
  const ctx = await world.app.open(null)
  const repo = await openForWriting(ctx, { ...(await locate(world, id)), default_branch: 'main' })
  return { id, full_path, repository: new TestRepository(repo) }
}

/**
 * A public and a private project with the file `a`, a user without membership, and two members of the private project.
 */
export async function openAndClosed(world: World): Promise<{
  open: StoredProject
  closed: StoredProject
  stranger: Client
  guest: Client
  reporter: Client
}> {
  const [stranger, guest, reporter] = await Promise.all([world.user(), world.user(), world.user()])
  const open = await storedProject(world)
  const closed = await storedProject(world, {
    visibility: 'private',
    members: [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ],
  })
  for (const project of [open, closed]) project.repository.commit({ a: 'a\n' })
  return { open, closed, stranger, guest, reporter }
}

/**
 * The git commands that the service starts while `work` runs, one text for each. Excludes processes that were running
 * already.
 */
export async function gitCommands(world: World, work: () => Promise<unknown>): Promise<string[]> {
  const { runner } = (await world.app.open(null)).git
  const { start } = runner
  const started: string[] = []
  runner.start = (words, options) => {
    started.push(words.join(' '))
    return start.call(runner, words, options)
  }
  try {
    await work()
  } finally {
    runner.start = start
  }
  return started
}

/**
 * The result of `request`, which moves a ref of the project, if `change` runs after the request has read the ref and before
 * it moves it: the request waits for a lock on the project until then.
 */
export async function duringMove<T>(
  world: World,
  projectId: number,
  request: () => Promise<T>,
  change: () => void,
): Promise<T> {
  const { running } = await world.db.transaction(async (tx) => {
    await lockProject(tx, projectId)
    const running = request()
    await expect.poll(() => waitingFor(world, 'lock', 'into pushes'), { timeout: waitMs }).not.toEqual([])
    change()
    // In an object, because the transaction must end before the request can.
    return { running }
  })
  return running
}

/** A pseudo-random number below `below`, derived from the words. */
export const pick = (words: string, below: number): number =>
  createHash('sha256').update(words).digest().readUInt32BE() % below

/** The non-empty lines of git's output. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** Content that git does not detect as a rename of any other. */
const unlike = (words: string) =>
  [...Array(5).keys()].map((line) => createHash('sha256').update(`${words} ${line}`).digest('hex')).join('\n')

/** A deterministic history with merges: commits one minute apart on two lines that sometimes merge. */
export function history(repository: TestRepository, seed: string, size: number): Oid[] {
  const made: Oid[] = []
  const tips: Record<string, Oid | undefined> = {}
  for (let at = 0; at < size; at++) {
    const branch = ['main', 'side'][pick(`${seed} branch ${at}`, 2)]!
    const other = branch === 'main' ? 'side' : 'main'
    const merges = tips[branch] && tips[other] && pick(`${seed} merge ${at}`, 4) === 0
    const parents = merges
      ? [tips[branch]!, tips[other]!]
      : tips[branch]
        ? [tips[branch]!]
        : made.length > 0
          ? [made[pick(`${seed} from ${at}`, made.length)]!]
          : []
    const file = `dir${pick(`${seed} dir ${at}`, 2)}/file${pick(`${seed} file ${at}`, 3)}`
    tips[branch] = repository.commit(
      { [file]: unlike(`${seed} ${at}`) },
      { branch, parents, message: `Change ${at}\n`, seconds: 1_700_000_000 + 60 * at },
    )
    made.push(tips[branch])
  }
  return made
}

/** Names of missing refs, most of which have a meaning for git or a shell. */
export const hostileRefs = [
  '--upload-pack=touch /tmp/x',
  '-x',
  '--all',
  '--output=/tmp/x',
  '-',
  '--',
  '@{',
  '@{-1}',
  '@{u}',
  'main@{0}',
  'main@{1 day ago}',
  '..',
  'main..main',
  'a...b',
  'refs/heads/../../x',
  'HEAD^@',
  'HEAD~1000000',
  'main^{tree}',
  'main^{/(a+)+}',
  ':/initial',
  ':path',
  'main:a.txt',
  ':0:a.txt',
  'refs/heads/',
  'refs/',
  '/main',
  'main/',
  'main//x',
  'main.lock',
  '.main',
  'main.',
  'ma in',
  'ma\tin',
  'main\n',
  '\r\nX-Evil: 1',
  'main~x',
  'main?',
  'main*',
  '[main',
  'main\\',
  'ünïcødé',
  '\u202emain',
  '\u{1f600}',
  'x'.repeat(300),
  'x/'.repeat(600),
  'y'.repeat(5000),
  '0000000000000000000000000000000000000000',
  'ffffffffffffffffffffffffffffffffffffffff',
  'fff',
  'deadbeef',
  '%00',
  '%2e%2e',
  '$(id)',
  '`id`',
  ';id',
  '|id',
  '&',
  "'",
  '"',
  '<script>',
  'FETCH_HEAD',
  'refs/keep-around/x',
  'refs/stithy/x',
  '${jndi:ldap://x}',
  '%s%n',
  'NaN',
  'undefined',
  '__proto__',
]

/** Paths that do not exist. */
export const hostilePaths = [
  '../etc/passwd',
  '..',
  '.',
  './a.txt',
  'a/../a.txt',
  '../../../../etc/passwd',
  '..\\..\\x',
  'a\\..\\b',
  '/etc/passwd',
  '//a.txt',
  '/a.txt',
  'a.txt/',
  'dir//b.txt',
  'dir/./b.txt',
  'dir/',
  '.git',
  '.git/config',
  '.GIT/config',
  'git~1',
  '.g\u200cit/config',
  'a.txt ',
  'a.txt.',
  ' a.txt',
  'A.TXT',
  '%2e%2e%2fetc',
  '..%2f..%2fx',
  '%00',
  'a.txt%00',
  '-x',
  '--help',
  '--',
  ':(top)a.txt',
  ':(glob)**',
  ':!a.txt',
  ':/',
  '*',
  '?.txt',
  '[a].txt',
  'a.txt:stream',
  'CON',
  'NUL',
  '~',
  '~root/.ssh/id_rsa',
  '$HOME',
  '`id`',
  '$(id)',
  '\n',
  'a\nb',
  '\r',
  '\t',
  '\u202e',
  '\u0000a',
  'a.txt\u0000',
  'ａ.txt',
  '\u{1f4a9}',
  'x'.repeat(300),
  'x/'.repeat(400),
  `${'a/'.repeat(2100)}b`,
  'link/passwd',
  'link/../a.txt',
  'sub/file',
  'nobody',
  '__proto__',
  'constructor',
  "'; drop table projects; --",
  '<script>alert(1)</script>',
]
