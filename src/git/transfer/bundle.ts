import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '../../kernel/durable.ts'
import { readLines } from '../../kernel/read-lines.ts'
import type { Oid } from '../format/oid.ts'
import { branchRef, parseRefName, type RefName, tagRef } from '../format/ref-name.ts'
import { listRefs, type Ref } from '../refs/refs.ts'
import { packedRefsText, writePackedRefs } from '../refs/write-packed-refs.ts'
import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'
import { GitError, gitFailure } from '../runner/git-error.ts'

const timeoutMs = 3 * 60 * 60_000
const signature = '# v2 git bundle'

/** Refs that a bundle has: branches, tags, the heads of merge requests, and the commits of their versions. */
const bundled = ['refs/heads/', 'refs/tags/', 'refs/merge-requests/', 'refs/keep-around/'] as const

/**
 * All objects are read, compared and compressed again, and most are deltas in the repository: with the usual cache git restores the same
 * bases again and again, which takes 13 instead of 10 s of CPU time for 20,000 commits. It adds up to 64 MiB of memory, and no byte changes.
 */
const settings = [['core.deltaBaseCacheLimit', '128m']] as const

/**
 * A repository as a git bundle: its refs by name, and one pack. Equal refs and objects give equal bytes with the same git, however
 * they are packed in the repository: nothing of its packs is reused, and one thread searches deltas. Undefined for a repository without
 * refs. Two processes; constant memory apart from the refs.
 */
export async function bundle(repo: Repository): Promise<Readable | undefined> {
  const refs = await listRefs(repo, bundled)
  if (refs.length === 0) return undefined
  const pack = await repo.stream('pack-objects', {
    flags: [
      '--revs',
      '--stdout',
      '--delta-base-offset',
      '--no-reuse-delta',
      '--no-reuse-object',
      '--no-use-bitmap-index',
      '--threads=1',
      '-q',
    ],
    lane: 'transfer',
    background: true,
    timeoutMs,
    input: [...new Set(refs.map(({ oid }) => oid))]
      .sort()
      .map((oid) => `${oid}\n`)
      .join(''),
    env: settingsEnv(settings),
  })
  const header = `${signature}\n${refs.map(({ oid, name }) => `${oid} ${name}\n`).join('')}\n`
  return Readable.from(
    (async function* () {
      yield Buffer.from(header)
      yield* pack as AsyncIterable<Buffer>
    })(),
    { objectMode: false },
  )
}

/** A bundle that cannot be read. The message is for users. */
export class BundleRefusal extends Error {
  override name = 'BundleRefusal'
}

export type BundleLimits = {
  /** Maximum refs. */
  readonly refs: number
}

/**
 * Fills an empty repository from a bundle of anyone's making. Git reads the pack only, and checks every object as it does for
 * pushes; names and ids are checked here, so a bundle brings no hooks, no configuration and no alternates. Returns the refs by
 * name. Throws `BundleRefusal` with the reason. Three processes, one after the other.
 */
export async function unbundle(repo: Repository, path: string, limits: BundleLimits): Promise<readonly Ref[]> {
  const { refs, packAt } = await readHeader(path, limits)
  const index = await repo.start('index-pack', {
    flags: ['--stdin', '--strict'],
    lane: 'transfer',
    background: true,
    timeoutMs,
    stdin: true,
  })
  index.resume()
  await pipeline(createReadStream(path, { start: packAt }), index)
  const exit = await index.done
  if (exit.code !== 0) {
    const error = gitFailure('index-pack', exit)
    if (exit.signal !== null || error.name === 'Failure') throw error
    throw new BundleRefusal(`The pack is not valid: ${reasonIn(exit.stderr)}`)
  }
  await syncFolder(join(repo.objectDir, 'pack'))
  await writePackedRefs(repo, packedRefsText([...refs].map(([name, oid]) => ({ name, oid }))))
  // It reads the object of every ref, and fails if one is missing.
  const listed = await listRefs(repo, 'refs/').catch((error: unknown) => {
    // A signal, or another failure than git's, says nothing about the bundle.
    if (!(error instanceof GitError) || error.signal !== null) throw error
    throw new BundleRefusal('A reference names an object that is not in the pack')
  })
  if (listed.length !== refs.size) throw new BundleRefusal('A reference names an object that is not in the pack')
  await requireCommits(listed)
  await requireComplete(repo)
  return listed
}

/** The commit of `HEAD` in a bundle that was accepted: bundles of git have it, ours do not. */
export const headOfBundle = async (path: string, limits: BundleLimits): Promise<Oid | undefined> =>
  (await readHeader(path, limits)).head

/** The last line of git that says why, without paths of this machine. */
const reasonIn = (stderr: string): string =>
  (stderr.split('\n').findLast((line) => /^(fatal|error): /.test(line)) ?? 'git refused it')
    .replace(/^(fatal|error): /, '')
    .replace(/\/\S+/g, '')
    .slice(0, 200)

async function readHeader(
  path: string,
  limits: BundleLimits,
): Promise<{ refs: ReadonlyMap<RefName, Oid>; head: Oid | undefined; packAt: number }> {
  const refs = new Map<RefName, Oid>()
  let head: Oid | undefined
  let packAt = 0
  let isFirst = true
  for await (const { bytes } of readLines(createReadStream(path), { maxBytes: 2048 })) {
    packAt += bytes.length + 1
    if (isFirst) {
      if (bytes.toString('latin1') !== signature) throw new BundleRefusal('It is not a git bundle of version 2')
      isFirst = false
      continue
    }
    if (bytes.length === 0) {
      requireNoConflicts(refs)
      return { refs, head, packAt }
    }
    const [, oid, text] = /^([0-9a-f]{40}) (.+)$/.exec(bytes.toString('utf8')) ?? []
    if (oid === undefined || text === undefined)
      throw new BundleRefusal('The bundle has prerequisites, or its header is not valid')
    if (text === 'HEAD') head = oid as Oid
    if (text === 'HEAD' || isForeign(text)) continue
    const name = allowed(text)
    if (!name) throw new BundleRefusal(`The reference ${JSON.stringify(text.slice(0, 100))} is not allowed`)
    if (refs.has(name)) throw new BundleRefusal(`The reference ${JSON.stringify(text.slice(0, 100))} is there twice`)
    if (refs.size === limits.refs) throw new BundleRefusal(`The bundle has more than ${limits.refs} references`)
    refs.set(name, oid as Oid)
  }
  throw new BundleRefusal('The bundle ends within its header')
}

/** Refs of other products that mean nothing here. */
const isForeign = (name: string): boolean =>
  /^refs\/(environments|pipelines|remotes|notes|stash|pull|changes)(\/|$)/.test(name)

function allowed(text: string): RefName | undefined {
  const name = parseRefName(text)
  if (!name) return undefined
  if (name.startsWith('refs/heads/')) return branchRef(name.slice('refs/heads/'.length))
  if (name.startsWith('refs/tags/')) return tagRef(name.slice('refs/tags/'.length))
  return /^refs\/(merge-requests\/[1-9][0-9]{0,9}\/[a-z]+(\/[0-9]+)?|keep-around\/([1-9][0-9]{0,9}\/)?[0-9a-f]{40})$/.test(
    name,
  )
    ? name
    : undefined
}

/** A file system cannot have both `a` and `a/b`. */
function requireNoConflicts(refs: ReadonlyMap<RefName, Oid>): void {
  for (const name of refs.keys())
    for (let at = name.lastIndexOf('/'); at > 'refs/'.length; at = name.lastIndexOf('/', at - 1))
      if (refs.has(name.slice(0, at) as RefName))
        throw new BundleRefusal(`The references ${name.slice(0, at)} and ${name} exclude each other`)
}

/** Only tags may name what is no commit. */
async function requireCommits(refs: readonly Ref[]): Promise<void> {
  const wrong = refs.find(({ name, type }) => type !== 'commit' && !name.startsWith('refs/tags/'))
  if (wrong) throw new BundleRefusal(`The reference ${wrong.name} is not a commit`)
}

/**
 * Everything that the refs reach is there. Git checked the links within the pack, but not that nothing is beyond it. Throws
 * `BundleRefusal`.
 */
export async function requireComplete(repo: Repository): Promise<void> {
  const child = await repo.start('rev-list', {
    flags: ['--objects', '--all', '--quiet'],
    lane: 'transfer',
    background: true,
    timeoutMs,
  })
  child.resume()
  const exit = await child.done
  if (exit.code === 0) return
  if (exit.signal !== null) throw gitFailure('rev-list', exit)
  throw new BundleRefusal('The pack lacks objects that its references need')
}
