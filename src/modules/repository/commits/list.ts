import type { Page, Paged } from '../../../api/page.ts'
import { countedRows } from '../../../api/page.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { countCommits, type HistoryFilters, type HistoryPage, listCommitIds } from '../../../git/history/history.ts'
import { period } from '../../../git/history/period.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { readCommitPage } from '../../../git/objects/commits.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure } from '../../../kernel/failure.ts'
import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { findRange } from './range.ts'

export type CommitFilters = {
  readonly ref_name?: string
  readonly since?: Date
  readonly until?: Date
  readonly path?: string
  readonly all: boolean
  readonly first_parent: boolean
  readonly order: 'default' | 'topo'
}

/** Maximum commits that are counted when a rename is followed, because that examines every commit of the history. */
const countedFollowing = 1000
/** Git parses the number as `int`. */
const maxSkip = 2 ** 31 - 1 - 1000

type Order = NonNullable<HistoryPage['order']>

const nothing: Paged<Commit> = { rows: [], total: 0, hasNext: false }

/**
 * A page of commits. A file is followed through its renames. A cached page costs one round trip to git, even if refs
 * moved in between. Otherwise one walk of the history for the page, and another for the total, except for the last page
 * and for files; with `all` these are processes and not cached.
 */
export async function commitsPage(
  repo: Repository,
  filters: CommitFilters,
  page: Page,
  unnamed: string,
): Promise<Paged<Commit>> {
  if (page.keyset) throw new Failure('unsupported', 'Keyset pagination is not yet available for this type of request')
  const when = period(filters)
  const named = (!filters.all && filters.ref_name) || unnamed
  const range = await findRange(repo, named, unnamed)
  if (!when || (!filters.all && !range)) return nothing
  const path = filters.path === undefined ? undefined : withoutTrailing(filters.path, '/')
  const history: HistoryFilters = {
    ...(filters.all || !range ? { from: 'all' } : range),
    ...when,
    ...(path && { path, follow: await isFile(repo, range?.from ?? [], path) }),
    firstParent: filters.first_parent,
  }
  const skip = Math.min((page.page - 1) * page.perPage, maxSkip)
  const order: Order = filters.order === 'topo' ? 'topo' : 'time'
  // One more than requested shows whether there is a next page.
  const end = skip + page.perPage + 1
  const found =
    history.follow && end <= countedFollowing
      ? (await followed(repo, history, order)).slice(skip, end)
      : await idsOf(repo, history, { order, skip, limit: page.perPage + 1 })
  const hasNext = found.length > page.perPage
  const commits = await readCommitPage(repo, found.slice(0, page.perPage))
  const ends = !hasNext && (found.length > 0 || skip === 0)
  return {
    rows: commits.filter((commit) => commit !== undefined),
    total: ends ? upTo(maxCounted(history), skip + found.length) : await total(repo, history, order),
    hasNext,
  }
}

/** Cached if it starts from commits, which are immutable; "all refs" is not. */
function idsOf(repo: Repository, history: HistoryFilters, page: HistoryPage): Promise<readonly Oid[]> {
  const ids = (repo: Repository) => listCommitIds(repo, history, page)
  if (history.from === 'all') return ids(repo)
  return memoize(repo, `ids ${JSON.stringify([page, history])}`, ids, (oids) => 80 * oids.length)
}

/** The first part of a file's history. Counting requires listing, so one walk serves the total and all pages. */
const followed = (repo: Repository, history: HistoryFilters, order: Order): Promise<readonly Oid[]> =>
  idsOf(repo, history, { order, limit: countedFollowing + 1 })

/** The total; `undefined` above the maximum that is counted. */
async function total(repo: Repository, history: HistoryFilters, order: Order): Promise<number | undefined> {
  const count = history.follow
    ? (await followed(repo, history, order)).length
    : await countCommits(repo, history, { atMost: countedRows + 1, order })
  return upTo(maxCounted(history), count)
}

const maxCounted = ({ follow }: HistoryFilters) => (follow ? countedFollowing : countedRows)

/** A total, unless it exceeds the maximum: then no page reports it, not even the last. */
const upTo = (most: number, count: number): number | undefined => (count > most ? undefined : count)

/** Only files of one of the tips (of all refs: of the default branch) can be followed; directories and missing paths are matched as given. */
async function isFile(repo: Repository, tips: readonly Oid[], path: string): Promise<boolean> {
  const entries = await Promise.all(tips.map((tip) => findEntry(repo, tip, path)))
  return entries.some((entry) => entry?.type === 'blob')
}
