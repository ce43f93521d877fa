import { endpoint } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { FilePath, Flag, List, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { maxListedPathLength } from '../../../git/format/path-length.ts'
import { mergeBases, refsContaining } from '../../../git/history/ancestry.ts'
import { commitStats } from '../../../git/history/changes.ts'
import { patchesBetweenTrees } from '../../../git/history/patches.ts'
import { treeBefore } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { openRepository, project } from '../../projects/index.ts'
import { listContributors, sortContributors } from './contributors.ts'
import { DiffEntry } from './diff-entity.ts'
import { diffLimits } from './diff-limits.ts'
import { Commit, CommitDetail, Contributor } from './entity.ts'
import { commitsPage } from './list.ts'
import { CommitReference } from './reference.ts'
import { defaultRef, findCommitId, getCommit } from './revision.ts'

/** Maximum names: each is resolved, and all are arguments of one command. */
const maxMergeBaseRefs = 100

const sha = Text({ description: 'Full or abbreviated commit hash, or branch or tag name' })

/** One process per request; the changes of each commit are cached. */
const withStats = async (repo: Repository, oid: Oid) => {
  const stats = await commitStats(repo, oid)
  return stats && { stats }
}

export const commitRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits',
    summary: 'List commits',
    subject: project,
    allow: 'read_code',
    params: Params({
      ref_name: Optional(Text({ description: 'Branch, tag or range (`a..b`); default: the default branch' })),
      since: Optional(Timestamp({ description: 'Committed at or after this time' })),
      until: Optional(Timestamp({ description: 'Committed at or before this time' })),
      path: Optional(
        FilePath({ maxLength: maxListedPathLength, description: 'Only commits that change this file or directory' }),
      ),
      all: Flag({
        default: false,
        description: 'Return commits of all refs, also those of merge requests; ignores `ref_name`',
      }),
      with_stats: Flag({ default: false, description: 'Include counts of added and removed lines' }),
      first_parent: Flag({ default: false, description: 'Follow only the first parent of merge commits' }),
      order: OneOf(['default', 'topo'], {
        default: 'default',
        description: 'Order: newest first, or topological',
      }),
    }),
    paged: true,
    returns: Commit,
    async handle({ subject, params, page, ctx }) {
      const repo = openRepository(ctx, subject)
      const found = await commitsPage(repo, params, page, defaultRef(subject))
      const rows = found.rows.map(async (commit) => ({
        commit,
        project: subject,
        ...(params.with_stats && (await withStats(repo, commit.oid))),
      }))
      return { ...found, rows: await Promise.all(rows) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha',
    summary: 'Get a commit',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, stats: Flag({ default: true, description: 'Include counts of added and removed lines' }) }),
    returns: CommitDetail,
    async handle({ subject, params, ctx }) {
      const repo = openRepository(ctx, subject)
      const commit = await getCommit(repo, params.sha)
      return { commit, project: subject, ...(params.stats && (await withStats(repo, commit.oid))) }
    },
  }),

  /** Three round trips the first time; one `diff-tree` process for a large diff. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/diff',
    summary: 'Get the diff of a commit',
    description: 'Compares the commit with its first parent.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha }),
    paged: true,
    returns: DiffEntry,
    async handle({ subject, params, page, ctx }) {
      const repo = openRepository(ctx, subject)
      const commit = await getCommit(repo, params.sha)
      const before = await treeBefore(repo, commit)
      const { files } = await patchesBetweenTrees(repo, before, commit.tree, diffLimits(ctx.settings))
      return slicePage(files, page)
    },
  }),

  /** Time grows with refs, and with the history since the commit. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/refs',
    summary: 'List refs that contain a commit',
    description: 'Returns branches and tags.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha, type: OneOf(['branch', 'tag', 'all'], { default: 'all', description: 'Type of ref' }) }),
    paged: true,
    returns: CommitReference,
    async handle({ subject, params, page, ctx }) {
      const repo = openRepository(ctx, subject)
      const { oid } = await getCommit(repo, params.sha)
      const prefixes = [
        ...(params.type === 'tag' ? [] : (['refs/heads/'] as const)),
        ...(params.type === 'branch' ? [] : (['refs/tags/'] as const)),
      ]
      return slicePage(await refsContaining(repo, oid, prefixes), page)
    },
  }),

  /** With more than two refs, as git: the merge base of the first one and a merge of all others. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/merge_base',
    summary: 'Get the merge base of refs',
    description: 'Returns the best common ancestor.',
    subject: project,
    allow: 'read_code',
    params: Params({
      refs: List(Text(), { maxItems: maxMergeBaseRefs, description: 'At least two commits, branches or tags' }),
    }),
    returns: Commit,
    async handle({ subject, params, ctx }) {
      const [first, second, ...others] = params.refs
      if (first === undefined || second === undefined) throw invalid('Provide at least 2 refs')
      const repo = openRepository(ctx, subject)
      const names = [first, second, ...others]
      const found = await Promise.all(names.map((name) => findCommitId(repo, name)))
      const unknown = names.filter((_, at) => found[at] === undefined)
      if (unknown.length > 0) throw invalid(`Could not find ref${unknown.length > 1 ? 's' : ''}: ${unknown.join(', ')}`)
      const [base] = await mergeBases(repo, ...(found as [Oid, Oid, ...Oid[]]))
      if (!base) throw notFound('Merge Base')
      return { commit: await getCommit(repo, base), project: subject }
    },
  }),

  /** The first time for a head: its newest 2,000 commits, and one process if the lines of some were never counted. Cached afterwards. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/contributors',
    summary: 'List contributors of a repository',
    description: 'Counts the newest commits of the default branch.',
    subject: project,
    allow: 'read_code',
    params: Params({
      order_by: OneOf(['name', 'email', 'commits'], { default: 'commits', description: 'Field to order by' }),
      sort: OneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction: ascending or descending' }),
    }),
    paged: true,
    returns: Contributor,
    async handle({ subject, params, page, ctx }) {
      const repo = openRepository(ctx, subject)
      const tip = await findCommitId(repo, defaultRef(subject))
      const found = tip ? await listContributors(repo, tip) : []
      return slicePage(sortContributors(found, params.order_by, params.sort), page)
    },
  }),
]
