import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { git, temporaryFolder } from '../world.ts'

/** Where the repository of a fake forge is, and its commits. */
export type ForgeGit = {
  /** Folder with `ann/code.git` and `ann/code.wiki.git`. */
  readonly folder: string
  readonly first: string
  readonly main: string
  /** Heads of pull requests by their numbers. */
  readonly heads: ReadonlyMap<number, string>
}

const who = 'Ann <ann@example.com>'

/** A file with ten lines, of which a pull request changes the fifth. */
const tenLines = (fifth: string): string =>
  Array.from({ length: 10 }, (_, index) => (index === 4 ? fifth : `line ${index + 1}`)).join('\n')

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`

const commit = (
  ref: string,
  mark: number,
  seconds: number,
  message: string,
  from: string,
  path: string,
  text: string,
) =>
  `commit ${ref}\nmark :${mark}\nauthor ${who} ${seconds} +0000\ncommitter ${who} ${seconds} +0000\n${data(message)}${from === '' ? '' : `from ${from}\n`}M 100644 inline ${path}\n${data(text)}\n`

/** Makes a repository with two commits on `main`, a tag, the head of each pull request, and a wiki with a page. */
export async function forgeGit(pulls: readonly number[], branches: ReadonlyMap<number, string>): Promise<ForgeGit> {
  const folder = await temporaryFolder()
  const gitDir = join(folder.path, 'ann', 'code.git')
  await git(folder.path, 'init', '-q', '--bare', '-b', 'main', gitDir)
  const at = 1_700_000_000
  const stream = [
    commit('refs/heads/main', 1, at, 'First', '', 'lines.txt', `${tenLines('line 5')}\n`),
    ...pulls.map((number) =>
      commit(
        `refs/pull/${number}/head`,
        100 + number,
        at + number,
        `Pull ${number}`,
        ':1',
        'lines.txt',
        `${tenLines(`pull ${number}`)}\n`,
      ),
    ),
    ...[...branches].map(([number, branch]) => `reset refs/heads/${branch}\nfrom :${100 + number}\n\n`),
    commit('refs/heads/main', 2, at + 5000, 'Second', ':1', 'other.txt', 'other\n'),
    'reset refs/tags/v1.0\nfrom :1\n\n',
  ].join('')
  await importStream(gitDir, stream)
  const wikiDir = join(folder.path, 'ann', 'code.wiki.git')
  await git(folder.path, 'init', '-q', '--bare', '-b', 'master', wikiDir)
  await importStream(wikiDir, commit('refs/heads/master', 1, at, 'Page', '', 'Home.md', '# Welcome\n'))
  const refs = await git(gitDir, 'for-each-ref', '--format=%(objectname) %(refname)')
  const heads = new Map<number, string>()
  for (const [, oid, number] of refs.matchAll(/^(\S+) refs\/pull\/(\d+)\/head$/gm)) heads.set(Number(number), oid!)
  const oid = async (ref: string) => (await git(gitDir, 'rev-parse', ref)).trim()
  return { folder: folder.path, first: await oid('refs/tags/v1.0'), main: await oid('refs/heads/main'), heads }
}

async function importStream(gitDir: string, stream: string): Promise<void> {
  const child = spawn('git', ['-C', gitDir, 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  child.stdin.end(stream)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}
