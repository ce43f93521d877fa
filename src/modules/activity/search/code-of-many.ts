import { as, type Variant } from '../../../api/endpoint.ts'
import { type FoundCommit, findBelow, searchMessages } from '../../../git/history/message-search.ts'
import { readCommit, readCommitPage } from '../../../git/objects/commits.ts'
import { searchText } from '../../../git/objects/text-search.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { CommitDetail, type CommitDetailRow } from '../../repository/index.ts'
import { codeQuery, maxFound, oneLine, pageOf, sizeOfLines, textSearch } from './bounds.ts'
import { commitNamed } from './code.ts'
import { FoundBlob, type FoundBlobRow } from './entity.ts'
import type { Search, SearchScope } from './scope.ts'
import { readableSources, type SearchTips, type Sources, searchTogether, unionOf } from './sources.ts'

/** Text in the files of default branches, project by project. Projects that share a commit each list its results. */
async function findBlobs({ ctx, search, page }: Search<unknown>, { sources, all }: Sources): Promise<Variant> {
  const query = codeQuery(search)
  const { found, complete } = await searchTogether(
    ctx,
    sources,
    `blobs ${JSON.stringify(query)}`,
    (repo, tips, left) => searchText(repo, tips, textSearch(query, left())),
    sizeOfLines,
  )
  const byTip = Map.groupBy(found, ({ commit }) => commit)
  const rows = sources.flatMap(({ project, tip }) =>
    (byTip.get(tip) ?? []).map(
      (lines): FoundBlobRow => ({ ...lines, ref: project.default_branch, projectId: project.id }),
    ),
  )
  return as(
    FoundBlob,
    pageOf({ found: rows.slice(0, maxFound), complete: complete && all && rows.length <= maxFound }, page),
  )
}

/** Commits by a text in their message, newest first, preceded by the commit whose id or abbreviated id the text is. */
const searchCommits =
  (message: string): SearchTips<FoundCommit> =>
  async (repo, tips, left) => {
    const named = await commitNamed(repo, message)
    const commit = named && (await readCommit(repo, named))
    const first = commit && (await findBelow(repo, tips, commit, left()))
    const all = await searchMessages(repo, tips, { message, maxFound, timeoutMs: left() })
    return first ? { ...all, found: [{ ...first, seconds: Number.POSITIVE_INFINITY }, ...all.found] } : all
  }

/** Removes duplicates: two halves that were searched separately may share commits. */
const newestFirst = (found: readonly FoundCommit[]): FoundCommit[] =>
  [...Map.groupBy(found, ({ oid }) => oid).values()].map(([first]) => first!).toSorted((a, b) => b.seconds - a.seconds)

/** Commits of default branches. A commit in several projects is shown in one of them. */
async function findCommits({ ctx, search, page }: Search<unknown>, { sources, all }: Sources): Promise<Variant> {
  const message = oneLine(search)
  const { found, complete } = await searchTogether(
    ctx,
    sources,
    `commits ${message}`,
    searchCommits(message),
    (each) => 250 * each.found.length,
  )
  const paged = pageOf({ found: newestFirst(found), complete: complete && all }, page)
  const projects = new Map(sources.toReversed().map(({ tip, project }) => [tip, project]))
  await using repo = await unionOf(ctx, sources)
  const commits = await readCommitPage(
    repo,
    paged.rows.map(({ oid }) => oid),
  )
  const rows = paged.rows.flatMap(({ tip }, index): CommitDetailRow[] => {
    const [commit, project] = [commits[index], projects.get(tip)]
    return commit && project ? [{ commit, project }] : []
  })
  return as(CommitDetail, { ...paged, rows })
}

const blobs = { name: 'blobs', returns: [FoundBlob] }
const commits = { name: 'commits', returns: [CommitDetail] }

export const blobsOfAll: SearchScope<null> = {
  ...blobs,
  find: async (asked) => findBlobs(asked, await readableSources(asked.ctx, undefined)),
}
export const commitsOfAll: SearchScope<null> = {
  ...commits,
  find: async (asked) => findCommits(asked, await readableSources(asked.ctx, undefined)),
}

/** Searches the group's projects and those of its subgroups. */
export const blobsInGroup: SearchScope<GroupSubject> = {
  ...blobs,
  find: async (asked) => findBlobs(asked, await readableSources(asked.ctx, asked.within.traversal_ids)),
}
export const commitsInGroup: SearchScope<GroupSubject> = {
  ...commits,
  find: async (asked) => findCommits(asked, await readableSources(asked.ctx, asked.within.traversal_ids)),
}
