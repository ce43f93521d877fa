import { as, type Variant } from '../../../api/endpoint.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { searchMessages } from '../../../git/history/message-search.ts'
import { readCommitPage } from '../../../git/objects/commits.ts'
import { searchText } from '../../../git/objects/text-search.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { CommitDetail, type CommitDetailRow, defaultRef, findCommitId } from '../../repository/index.ts'
import { openWiki } from '../../text/index.ts'
import {
  codeQuery,
  maxFound,
  nothing,
  oneLine,
  pageOf,
  sizeOfLines,
  textSearch,
  timeoutMs,
  tookTooLong,
} from './bounds.ts'
import { FoundBlob, type FoundBlobRow } from './entity.ts'
import type { Search, SearchScope } from './scope.ts'

/** The commit to search and the name of its ref; undefined in an empty repository. */
async function tipOf(
  repo: Repository,
  { within, ref }: Search<ProjectSubject>,
): Promise<{ commit: Oid; ref: string } | undefined> {
  const commit = await findCommitId(repo, ref || defaultRef(within))
  if (commit) return { commit, ref: ref || (within.default_branch ?? 'HEAD') }
  if (ref) throw notFound('Commit')
  return undefined
}

/** Text in the files of a project. Runs `git grep` once; results are cached, so that paging is cheap. */
export const blobsInProject: SearchScope<ProjectSubject> = {
  name: 'blobs',
  returns: [FoundBlob],
  allow: 'read_code',
  async find(asked) {
    const query = codeQuery(asked.search)
    const repo = openRepository(asked.ctx, asked.within)
    return searchFiles(repo, query, await tipOf(repo, asked), asked)
  },
}

/** Text in the pages and attachments of the wiki of a project. */
export const wikiInProject: SearchScope<ProjectSubject> = {
  name: 'wiki_blobs',
  returns: [FoundBlob],
  allow: 'read_wiki',
  async find(asked) {
    const query = codeQuery(asked.search)
    const wiki = await openWiki(asked.ctx, { of: 'project', id: asked.within.id })
    if (!wiki) return as(FoundBlob, nothing)
    return searchFiles(wiki.repo, query, { commit: wiki.head, ref: wiki.branch }, asked)
  },
}

async function searchFiles(
  repo: Repository,
  query: ReturnType<typeof codeQuery>,
  tip: { readonly commit: Oid; readonly ref: string } | undefined,
  { within, page }: Search<ProjectSubject>,
): Promise<Variant> {
  if (!tip) return as(FoundBlob, nothing)
  const found = await memoize(
    repo,
    `grep ${tip.commit} ${JSON.stringify(query)}`,
    async (repo) => {
      const all = await searchText(repo, [tip.commit], textSearch(query, timeoutMs))
      if (all.timedOut) throw tookTooLong()
      return all
    },
    sizeOfLines,
  )
  const paged = pageOf(found, page)
  const rows = paged.rows.map((lines): FoundBlobRow => ({ ...lines, ref: tip.ref, projectId: within.id }))
  return as(FoundBlob, { ...paged, rows })
}

/**
 * Commits by a text in their message, newest first, or the one commit whose id or abbreviated id it is. Runs `git log`
 * once; results are cached.
 */
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
    const found = await memoize(
      repo,
      `commits ${tip.commit} ${message}`,
      async (repo) => {
        const all = await searchMessages(repo, [tip.commit], { message, maxFound, timeoutMs })
        if (all.timedOut) throw tookTooLong()
        return { found: all.found.map(({ oid }) => oid), complete: all.complete }
      },
      (all) => 80 * all.found.length,
    )
    const named = await commitNamed(repo, message)
    const paged = pageOf(
      named ? { ...found, found: [named, ...found.found.filter((oid) => oid !== named)] } : found,
      page,
    )
    const commits = (await readCommitPage(repo, paged.rows)).filter((commit) => commit !== undefined)
    const rows = commits.map((commit): CommitDetailRow => ({ commit, project: within }))
    return as(CommitDetail, { ...paged, rows })
  },
}

/** The commit whose full or abbreviated id the text is; never a branch or tag of that name. */
export async function commitNamed(repo: Repository, text: string): Promise<Oid | undefined> {
  const id = text.trim().toLowerCase()
  const commit = /^[0-9a-f]{7,40}$/.test(id) ? await findCommitId(repo, id) : undefined
  return commit?.startsWith(id) ? commit : undefined
}
