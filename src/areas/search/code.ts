import { as } from '../../api/endpoint.ts'
import { type Page, type Paged, slicePage } from '../../api/page.ts'
import { readCommits } from '../../git/commits.ts'
import { listCommitIds } from '../../git/history.ts'
import type { Oid } from '../../git/oid.ts'
import { remember } from '../../git/remember.ts'
import type { Repository } from '../../git/repository.ts'
import { searchText } from '../../git/text-search.ts'
import { Failure, invalid, notFound } from '../../kernel/failure.ts'
import { CommitDetail, type CommitDetailRow } from '../commits/entity.ts'
import { defaultRef, findCommitId } from '../commits/revision.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { openRepository } from '../repositories/open.ts'
import { FoundBlob, type FoundBlobRow } from './entity.ts'
import { fits, parseCodeQuery } from './file-filters.ts'
import type { Search, SearchScope } from './scope.ts'

/** Nobody turns more pages than these fill; what lies beyond is asked for in other words. */
const maxFound = 1000
const maxBytes = 8 * 1024 * 1024
const timeoutMs = 10_000

/** The commit to search, and what it is called; nothing in an empty repository. */
async function tipOf(
  repo: Repository,
  { within, ref }: Search<ProjectSubject>,
): Promise<{ commit: Oid; ref: string } | undefined> {
  const commit = await findCommitId(repo, ref || defaultRef(within))
  if (commit) return { commit, ref: ref || (within.default_branch ?? 'HEAD') }
  if (ref) throw notFound('Commit')
  return undefined
}

const nothing: Paged<never> = { rows: [], total: 0, hasNext: false }

/** A page of what was found; how much there is in all is not told when the search ended early. */
const pageOf = <Row>({ found, complete }: { found: readonly Row[]; complete: boolean }, page: Page): Paged<Row> => {
  const paged = slicePage(found, page)
  return complete ? paged : { ...paged, total: undefined }
}

/** Git was ended: somebody who asks for less may be told. */
async function inTime<T>(search: Promise<T>): Promise<T> {
  try {
    return await search
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unavailable' && error.cause !== undefined)
      throw new Failure('unprocessable', 'The search took too long: search for something rarer, or in fewer files')
    throw error
  }
}

const oneLine = (text: string): string => {
  if (/[\r\n]/.test(text)) throw invalid('search must be one line')
  return text
}

/** Text in the files of a project. One `git grep` the first time; remembered, so that paging is cheap. */
export const blobsInProject: SearchScope<ProjectSubject> = {
  name: 'blobs',
  returns: [FoundBlob],
  allow: 'read_code',
  async find(asked) {
    const { ctx, within, page } = asked
    const query = parseCodeQuery(oneLine(asked.search))
    if (query.text === '') throw invalid('search has nothing but filters')
    const repo = openRepository(ctx, within)
    const tip = await tipOf(repo, asked)
    if (!tip) return as(FoundBlob, nothing)
    const found = await remember(
      repo,
      `grep ${tip.commit} ${JSON.stringify(query)}`,
      () =>
        inTime(
          searchText(repo, tip.commit, {
            text: query.text,
            ...(query.like[0] !== undefined && { like: query.like[0] }),
            accepts: (path) => fits(query, path),
            maxFound,
            maxBytes,
            timeoutMs,
          }),
        ),
      (all) => all.found.reduce((sum, { path, text }) => sum + 2 * (path.length + text.length) + 100, 0),
    )
    const paged = pageOf(found, page)
    const rows = paged.rows.map((lines): FoundBlobRow => ({ ...lines, ref: tip.ref, projectId: within.id }))
    return as(FoundBlob, { ...paged, rows })
  },
}

/** Commits by a text in their message, the newest first; one by its id or the beginning of it. One `git rev-list` the first time. */
export const commitsInProject: SearchScope<ProjectSubject> = {
  name: 'commits',
  returns: [CommitDetail],
  allow: 'read_code',
  async find(asked) {
    const { ctx, within, page } = asked
    const message = oneLine(asked.search)
    const repo = openRepository(ctx, within)
    const tip = await tipOf(repo, asked)
    if (!tip) return as(CommitDetail, nothing)
    const found = await remember(
      repo,
      `commits ${tip.commit} ${message}`,
      async () => {
        const filters = { from: [tip.commit], message }
        const oids = await inTime(listCommitIds(repo, filters, { limit: maxFound + 1, timeoutMs }))
        return { found: oids.slice(0, maxFound), complete: oids.length <= maxFound }
      },
      (all) => 80 * all.found.length,
    )
    const named = await commitNamed(repo, message)
    const paged = pageOf(
      named ? { ...found, found: [named, ...found.found.filter((oid) => oid !== named)] } : found,
      page,
    )
    const commits = (await readCommits(repo, paged.rows)).filter((commit) => commit !== undefined)
    const rows = commits.map((commit): CommitDetailRow => ({ commit, project: within }))
    return as(CommitDetail, { ...paged, rows })
  },
}

/** Not by a branch or tag that is called so. */
async function commitNamed(repo: Repository, text: string): Promise<Oid | undefined> {
  const id = text.trim().toLowerCase()
  const commit = /^[0-9a-f]{7,40}$/.test(id) ? await findCommitId(repo, id) : undefined
  return commit?.startsWith(id) ? commit : undefined
}
