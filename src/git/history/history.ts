import type { Oid } from '../format/oid.ts'
import { isTreePath, pathToBytes } from '../format/path-bytes.ts'
import { linesOf } from '../format/records.ts'
import { hiddenRefs } from '../format/ref-name.ts'
import { type Commit, readCommits } from '../objects/commits.ts'
import { getCached, memoize, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { mergeBases } from './ancestry.ts'
import { inDag } from './dag.ts'
import { type LogFilters, listedBefore, log } from './log.ts'
import { maxReads } from './path-reader.ts'
import { flagsOfPeriod } from './period.ts'

export type HistoryFilters = {
  /** Commits whose history is listed; `all`: every ref that clients can fetch. */
  from: readonly Oid[] | 'all'
  /** Omits these commits and their history: `from: [b], excluding: [a]` is `a..b`. */
  excluding?: readonly Oid[]
  /** Commits that changed this file or directory. */
  path?: string
  /** With `path`: follows renames of that file. */
  follow?: boolean
  /** By committer time, inclusive. */
  since?: Date
  until?: Date
  /** Part of the author's name or address, or of the message; case-insensitive plain text, not a pattern. */
  author?: string
  message?: string
  firstParent?: boolean
  merges?: 'none'
}

export type HistoryPage = {
  /**
   * Default `time`: newest first, in git's traversal order. `topo`: no parent before its children, lines of history kept
   * together.
   */
  order?: 'time' | 'date' | 'author-date' | 'topo'
  skip?: number
  limit: number
}

const orderFlags = {
  time: [],
  date: ['--date-order'],
  'author-date': ['--author-date-order'],
  topo: ['--topo-order'],
} as const

/**
 * The same order whether or not there is a commit-graph, which a job may write between two pages: with one, git sorts some lists as it
 * walks. `--cherry-pick` lets it walk first; it omits nothing, because no symmetric difference is ever listed.
 */
function flagsOfOrder(
  order: keyof typeof orderFlags,
  { from, since, until, firstParent }: HistoryFilters,
): readonly `-${string}`[] {
  const dependsOnGraph = since || until || (firstParent && (from === 'all' || from.length > 1))
  return [...orderFlags[order], ...(order === 'topo' && dependsOnGraph ? (['--cherry-pick'] as const) : [])]
}

/**
 * Commits that match the filters, read through the object cache. Simple filters are evaluated in this process with the
 * commit-graph (`dag.ts`), others by one `rev-list`. Empty for an impossible path or without a starting commit.
 */
export async function listCommits(repo: Repository, filters: HistoryFilters, page: HistoryPage): Promise<Commit[]> {
  const commits = await readCommits(repo, await listCommitIds(repo, filters, page))
  return commits.filter((commit) => commit !== undefined)
}

/** Like `listCommits`, but returns only the ids. */
export async function listCommitIds(
  repo: Repository,
  filters: HistoryFilters,
  { order = 'time', skip = 0, limit }: HistoryPage,
): Promise<Oid[]> {
  if (limit <= 0 || isEmpty(filters)) return []
  const follow = filters.follow === true && filters.path !== undefined
  const from = Math.max(0, Math.trunc(skip))
  const here = order === 'time' ? readHere(filters, from + limit) : undefined
  const known = here && (await listHere(repo, here, from + Math.trunc(limit)))
  if (known) return known.slice(from)
  await requireReadable(repo, filters)
  if (follow) return (await followedByGit(repo, filters, order, from + Math.trunc(limit))).slice(from)
  const { flags, ...rest } = selection(filters)
  const { stdout } = await repo.run('rev-list', {
    ...rest,
    flags: [...flags, ...flagsOfOrder(order, filters), `--max-count=${Math.trunc(limit)}`, `--skip=${from}`],
  })
  return linesOf(stdout) as Oid[]
}

/**
 * Throws the damage if git cannot read the history of commits that are excluded from a range: it would list what they have, too, without an error. One
 * process, if the commit-graph does not cover them; cached.
 */
async function requireReadable(repo: Repository, { from, excluding = [] }: HistoryFilters): Promise<void> {
  if (from === 'all' || excluding.length === 0) return
  const [first, second, ...others] = [...from, ...excluding]
  await mergeBases(repo, first!, second!, ...others)
}

/**
 * The first `limit` commits of `git log --follow`, by at most a few processes. Git follows no rename in a commit that it skips or
 * that is too new for it, so commits after `until` are removed here.
 */
async function followedByGit(
  repo: Repository,
  { until, ...filters }: HistoryFilters,
  order: NonNullable<HistoryPage['order']>,
  limit: number,
): Promise<Oid[]> {
  const { flags, ...rest } = selection(filters)
  const latest = until ? Math.floor(until.getTime() / 1000) : Number.POSITIVE_INFINITY
  for (let most = limit; ; most *= 8) {
    const { stdout } = await repo.run('log', {
      ...rest,
      flags: [
        ...flags,
        '--follow',
        '--format=%H %ct',
        '--no-show-signature',
        '--no-decorate',
        ...flagsOfOrder(order, filters),
        `--max-count=${most}`,
      ],
    })
    const listed = linesOf(stdout).map((line) => line.split(' ') as [Oid, string])
    const found = listed.filter(([, seconds]) => Number(seconds) <= latest).map(([oid]) => oid)
    if (found.length >= limit || listed.length < most) return found.slice(0, limit)
  }
}

/**
 * Counts the commits that match the filters, up to `atMost`. Costs as much as `listCommits`; cached unless it depends on refs.
 * `order` is that of the list: where clocks are skewed, git lists other commits since a time in another order.
 */
export async function countCommits(
  repo: Repository,
  filters: HistoryFilters,
  { atMost, order = 'time' }: { atMost?: number; order?: HistoryPage['order'] } = {},
): Promise<number> {
  if (isEmpty(filters)) return 0
  const walk = filters.since ? order : 'time'
  const count = async (repo: Repository) => {
    const here = filters.follow || walk !== 'time' ? undefined : readHere(filters, 0)
    const tips = here && [...here.from, ...(here.excluding ?? [])]
    const known =
      here && tips && (await inDag(repo, tips, (dag) => log(repo, dag, here, atMost ?? Number.POSITIVE_INFINITY)))
    if (known) return { count: known.length }
    await requireReadable(repo, filters)
    const { flags, ...rest } = selection(filters)
    const { stdout } = await repo.run('rev-list', {
      ...rest,
      flags: [
        ...flags,
        ...flagsOfOrder(walk, filters),
        '--count',
        ...(atMost === undefined ? [] : ([`--max-count=${Math.trunc(atMost)}`] as const)),
      ],
    })
    return { count: Number(stdout.toString('latin1')) }
  }
  if (filters.from === 'all') return (await count(repo)).count
  const { from, ...others } = filters
  const [tip] = from
  const isOfPath = filters.path !== undefined && from.length === 1 && !filters.excluding?.length
  const latest = `latest count ${atMost} ${JSON.stringify(others)}`
  const counted = await memoize(
    repo,
    `count ${atMost} ${walk} ${JSON.stringify(filters)}`,
    async (repo) => {
      const before = isOfPath ? getCached<Counted>(repo, latest) : undefined
      return (before && (await carriedOn(repo, filters, before, atMost))) ?? count(repo)
    },
    () => 50,
  )
  if (isOfPath) setCached(repo, latest, { tip: tip!, count: counted.count } satisfies Counted, 50)
  return counted.count
}

type Counted = { readonly tip: Oid; readonly count: number }

/**
 * Computes the count for a tip from that of an earlier tip. `undefined` for filters by time or `follow`, if the earlier count
 * reached its limit, or if the new tip does not simply extend the earlier history.
 */
async function carriedOn(
  repo: Repository,
  filters: HistoryFilters,
  before: Counted,
  atMost = Number.POSITIVE_INFINITY,
): Promise<{ count: number } | undefined> {
  const here = filters.since || filters.until || filters.follow ? undefined : readHere(filters, 0)
  if (!here || before.count >= atMost) return undefined
  const since = await inDag(repo, [...here.from, before.tip], async (dag) => ({
    count: await listedBefore(repo, dag, here, before.tip),
  }))
  return since?.count === undefined ? undefined : { count: Math.min(before.count + since.count, atMost) }
}

/**
 * The newest commit after which `path` is as in `commit`; `undefined` for an impossible path. A millisecond on 20,000 commits
 * with a commit-graph; cached, because it is immutable.
 */
export async function lastCommitOfPath(repo: Repository, commit: Oid, path: string): Promise<Commit | undefined> {
  const found = await memoize(
    repo,
    `last ${commit}:${path}`,
    async (repo) => {
      const [oid] = await listCommitIds(repo, { from: [commit], ...(path !== '' && { path }) }, { limit: 1 })
      return { oid }
    },
    () => 100,
  )
  return found.oid && (await readCommits(repo, [found.oid]))[0]
}

/**
 * The filters, if they can be evaluated in this process exactly as git does; `undefined` otherwise. Comparing trees takes a
 * round trip each, so git handles long lists; it also handles ranges of a path, whose rules have rarely used special cases.
 */
function readHere(
  { from, excluding = [], path, follow, since, until, author, message, firstParent, merges }: HistoryFilters,
  wanted: number,
): LogFilters | undefined {
  const isRange = excluding.length > 0
  if (from === 'all' || author !== undefined || message !== undefined || merges !== undefined) return undefined
  if (isRange && (path !== undefined || since || until || firstParent)) return undefined
  if (path !== undefined && !path.isWellFormed()) return undefined
  // Git is no faster at following, because it compares whole trees.
  if (path !== undefined && (follow ? firstParent : wanted > maxReads.simplified)) return undefined
  return {
    from,
    excluding,
    ...(path !== undefined && { path, follow: follow === true }),
    ...(since && { since: Math.ceil(since.getTime() / 1000) }),
    ...(until && { until: Math.floor(until.getTime() / 1000) }),
    ...(firstParent && { firstParent }),
  }
}

const listHere = (repo: Repository, filters: LogFilters, limit: number): Promise<Oid[] | undefined> =>
  inDag(repo, [...filters.from, ...(filters.excluding ?? [])], async (dag) =>
    (await log(repo, dag, filters, limit)).map((node) => dag.oid(node)),
  )

/** Also a path with a newline that is not text: git cannot be asked about it. */
const isEmpty = ({ from, path }: HistoryFilters) =>
  from.length === 0 || (path !== undefined && (!isTreePath(path) || (!path.isWellFormed() && path.includes('\n'))))

/** Git's flags for the filters. User text stands only after a `=` or after `--`. */
function selection({ from, excluding = [], path, since, until, author, message, firstParent, merges }: HistoryFilters) {
  const flags: `-${string}`[] = [
    ...(from === 'all' ? ([...hiddenRefs.map((name) => `--exclude=${name}/*` as const), '--all'] as const) : []),
    ...flagsOfPeriod({ ...(since && { since }), ...(until && { until }) }),
    ...(author === undefined ? [] : ([`--author=${oneLine(author)}`] as const)),
    ...(message === undefined ? [] : ([`--grep=${oneLine(message)}`] as const)),
    ...(author === undefined && message === undefined ? [] : (['--fixed-strings', '--regexp-ignore-case'] as const)),
    ...(firstParent ? (['--first-parent'] as const) : []),
    ...(merges ? (['--no-merges'] as const) : []),
  ]
  const args = [...(from === 'all' ? [] : from), ...excluding.map((oid) => `^${oid}`)]
  if (path === undefined) return { flags, args }
  if (path.isWellFormed()) return { flags, args, paths: [path] }
  // Command line arguments are text; other paths go through stdin.
  flags.push('--stdin')
  return { flags, args, input: Buffer.concat([Buffer.from('--\n'), pathToBytes(path), Buffer.from('\n')]) }
}

/** Git treats lines of a pattern as alternatives, and an empty line matches everything. */
const oneLine = (text: string) => text.replaceAll(/[\n\r\0]+/g, ' ')
