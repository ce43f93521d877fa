import type { Oid } from '../format/oid.ts'
import { linesOf } from '../format/records.ts'
import { commitsInTurn, readCommit } from '../objects/commits.ts'
import { openGraph } from '../objects/open-graph.ts'
import { readTag } from '../objects/tags.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'
import type { RefFile } from './packed-refs.ts'

/** Maximum number of objects read one by one; with more, git is faster. */
const maxRead = 2000
/** Objects read at a time, each of which may have megabytes. */
const readAtOnce = 32

/**
 * Creation times of the objects of all refs below a folder, in seconds: committer time of a commit, tagger time of an annotated tag, and 0 for others.
 * Reads the objects that are not cached concurrently; a process if they are many.
 */
export async function creationTimes(repo: Repository, refs: readonly RefFile[], folder: string): Promise<number[]> {
  const graph = await openGraph(repo)
  const listed = getCached<Times>(repo, timesKey(folder))
  const times = refs.map(({ oid }) => {
    const position = graph === 'git' ? undefined : graph.find(oid)
    return graph === 'git' || position === undefined ? listed?.get(oid) : graph.seconds(position)
  })
  const unknown = [...times.keys()].filter((index) => times[index] === undefined)
  const many = unknown.length > maxRead ? await listTimes(repo, folder).catch(ignoreDamage) : undefined
  for (let at = 0; at < unknown.length; at += readAtOnce)
    await Promise.all(
      unknown.slice(at, at + readAtOnce).map(async (index) => {
        const { oid } = refs[index]!
        times[index] = many?.get(oid) ?? (await readTime(repo, oid))
      }),
    )
  return times as number[]
}

/** Git lists no time because of one object that is lost. */
function ignoreDamage(error: unknown): undefined {
  if (!damageIn(error)) throw error
}

type Times = ReadonlyMap<Oid, number>

const timesKey = (folder: string) => `creation times ${folder}`
/** Estimated memory of a known time. */
const bytesPerTime = 130

/** The times of all refs below a folder by their objects: one process, which concurrent callers share. */
async function listTimes(repo: Repository, folder: string): Promise<Times> {
  const times = await memoize(
    repo,
    `list of ${timesKey(folder)}`,
    (repo) => askForTimes(repo, folder),
    () => undefined,
  )
  setCached(repo, timesKey(folder), times, times.size * bytesPerTime)
  return times
}

async function askForTimes(repo: Repository, folder: string): Promise<Times> {
  const { stdout } = await repo.run('for-each-ref', {
    flags: ['--format=%(objectname) %(creatordate:unix)'],
    args: [folder],
    maxOutputBytes: 64 * 1024 * 1024,
  })
  return new Map(
    linesOf(stdout).map((line) => {
      const [oid, seconds] = line.split(' ') as [Oid, string]
      return [oid, Number(seconds)]
    }),
  )
}

/** Objects that are lost or damaged are the oldest: git would list none because of them. */
async function readTime(repo: Repository, oid: Oid): Promise<number> {
  try {
    const commit = await readCommit(repo, oid)
    // For an annotated tag, `readCommit` returns the commit it refers to.
    if (commit?.oid === oid) return commit.committer.seconds
    return (await readTag(repo, oid))?.tagger?.seconds ?? 0
  } catch (error) {
    if (!damageIn(error)) throw error
    return 0
  }
}

/**
 * The commits that objects refer to, with annotated tags peeled; omits objects that refer to none. `undefined` if git should
 * answer because there are too many. No process.
 */
export async function commitsOf(repo: Repository, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid> | undefined> {
  const graph = await openGraph(repo)
  const commits = new Map<Oid, Oid>()
  const unknown: Oid[] = []
  for (const oid of oids) {
    if (graph !== 'git' && graph.find(oid) !== undefined) commits.set(oid, oid)
    else unknown.push(oid)
  }
  if (unknown.length > maxRead) return undefined
  let index = 0
  for await (const commit of commitsInTurn(repo, unknown)) {
    if (commit) commits.set(unknown[index]!, commit.oid)
    index++
  }
  return commits
}
