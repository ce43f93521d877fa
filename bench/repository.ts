import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { createBareRepository } from '../src/git/repository/bare-repository.ts'

/** The name contains the counts, so that another shape gets another folder. */
const nameFor = (commits: number): string => `repository-${commits}-5000-1.git`
const files = 5_000
const filesAtFirst = 1_000
const branches = 40

/** A deterministic generator of numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const words =
  'return const value path index stream buffer commit branch token member project group access level range'.split(' ')

/** Path of the file with this ordinal: a few hundred folders, three levels deep. */
export const filePath = (ordinal: number): string =>
  ordinal === 0
    ? 'README.md'
    : ordinal === 1
      ? 'LICENSE'
      : `src/area-${ordinal % 20}/part-${ordinal % 9}/file-${ordinal}.ts`

/**
 * The repository, created with fast-import on first use: commits that change one to three of 5,000 files, a merge every
 * fifty commits, forty branches, a tag every two hundred. Packed with bitmap and commit-graph, as after maintenance.
 */
export async function ensureRepository(folder: string, commits = 20_000): Promise<string> {
  const place = join(folder, nameFor(commits))
  if (existsSync(place)) return place
  const unfinished = `${place}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', unfinished)
  const importer = spawn('git', ['fast-import', '--quiet'], { cwd: unfinished, stdio: ['pipe', 'inherit', 'inherit'] })
  await writeHistory(importer.stdin, commits)
  const [code] = await once(importer, 'close')
  if (code !== 0) throw new Error(`git fast-import exited with ${code}`)
  git(unfinished, 'repack', '-a', '-d', '-q', '--write-bitmap-index')
  git(unfinished, 'pack-refs', '--all')
  git(unfinished, 'commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress')
  renameSync(unfinished, place)
  return place
}

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1e9, env: gitEnv }).trim()

export const gitEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
}

async function writeHistory(out: Writable, commits: number): Promise<void> {
  const random = numbers(7)
  const pick = (count: number) => Math.floor(random() * count)
  const line = () => Array.from({ length: 6 + pick(8) }, () => words[pick(words.length)]).join(' ')
  const contents: string[][] = []
  const touch = (ordinal: number): string => {
    const lines = contents[ordinal] ?? Array.from({ length: 20 + pick(120) }, line)
    contents[ordinal] = lines
    for (let changes = 1 + pick(4); changes > 0; changes--) lines[pick(lines.length)] = line()
    if (pick(3) === 0) lines.push(line())
    return `${lines.join('\n')}\n`
  }
  const change = (ordinal: number): string => {
    const text = touch(ordinal)
    return `M 100644 inline ${filePath(ordinal)}\ndata ${Buffer.byteLength(text)}\n${text}\n`
  }
  let known = filesAtFirst
  let side: number | undefined
  for (let mark = 1; mark <= commits; mark++) {
    const merges = mark % 50 === 0 && side !== undefined
    const aside = mark % 50 >= 40
    const ref = aside ? `refs/heads/side-${Math.floor(mark / 50) % branches}` : 'refs/heads/main'
    const person = `Person ${pick(50)} <person-${pick(50)}@example.com> ${1_500_000_000 + mark * 3600} +0000`
    const message = merges ? `Merge what was done aside, ${mark}` : `Change ${mark}: ${line()}\n\n${line()}\n`
    const parent = mark === 1 ? '' : `from :${aside && mark % 50 !== 40 ? side : lastMain(mark)}\n`
    let text = `commit ${ref}\nmark :${mark}\ncommitter ${person}\ndata ${Buffer.byteLength(message)}\n${message}\n${parent}`
    if (merges) text += `merge :${side}\n`
    if (mark === 1) for (let ordinal = 0; ordinal < filesAtFirst; ordinal++) text += change(ordinal)
    else if (known < files && mark % 5 === 0) text += change(known++)
    for (let more = 1 + pick(3); more > 0; more--) text += change(Math.floor(random() ** 2 * known))
    if (mark % 200 === 0) text += `reset refs/tags/v${mark / 200}.0\nfrom :${mark}\n\n`
    if (aside) side = mark
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
}

/** The previous commit of `main`. Ten of every fifty are on a branch. */
const lastMain = (mark: number): number => {
  const place = (mark - 1) % 50
  return place >= 40 ? mark - 1 - (place - 39) : mark - 1
}

/**
 * Creates the repository of the project with this key at `gitDir`, as if it had been pushed: links the packs instead of copying
 * them.
 */
export async function placeRepository(source: string, gitDir: string, key: string): Promise<void> {
  if (existsSync(gitDir)) return
  mkdirSync(dirname(gitDir), { recursive: true })
  await createBareRepository(gitDir, { defaultBranch: 'main', key })
  cpSync(join(source, 'packed-refs'), join(gitDir, 'packed-refs'))
  for (const folder of ['objects/pack', 'objects/info']) {
    mkdirSync(join(gitDir, folder), { recursive: true })
    for (const entry of readdirSync(join(source, folder), { withFileTypes: true }))
      if (entry.isFile()) linkSync(join(source, folder, entry.name), join(gitDir, folder, entry.name))
  }
}
