import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage, slicePage } from '../../../api/page.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { openRepository } from '../../projects/index.ts'
import { Commit, DiffEntry } from '../../repository/index.ts'
import { getDetail } from './detail.ts'
import { mergeRequest } from './subject.ts'
import { allCommits, commitsPage } from './version-commits.ts'
import { MergeRequestChanges, MergeRequestVersion, MergeRequestVersionDetail } from './version-entity.ts'
import { findVersionRow, versionRow, versionsOf } from './version-queries.ts'
import { patchesOf } from './versions.ts'

const at = '/projects/:id/merge_requests/:merge_request_iid'
const nothing = { files: [], overflow: false } as const

export const mergeRequestVersionRoutes = [
  endpoint({
    method: 'GET',
    path: `${at}/commits`,
    summary: 'List commits of a merge request',
    description: 'Newest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: Commit,
    async handle({ subject: { project, diff_id }, page, ctx }) {
      const found = await commitsPage(ctx, project, diff_id, page)
      return { ...found, rows: found.rows.map((commit) => ({ commit, project })) }
    },
  }),

  /** One `diff-tree` the first time. */
  endpoint({
    method: 'GET',
    path: `${at}/changes`,
    summary: 'Get changes of a merge request',
    description: 'Returns the merge request with its diffs.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    large: 'difference',
    returns: MergeRequestChanges,
    async handle({ subject: { id, project, head_oid: head, start_oid: start, base_oid: base }, ctx }) {
      const repo = openRepository(ctx, project)
      const [detail, { files, overflow }] = await Promise.all([
        getDetail(ctx, project, id),
        head && start ? patchesOf(ctx, repo, { head, base }) : nothing,
      ])
      return { ...detail, files, cut: overflow }
    },
  }),

  /** As for a version: several `diff-tree`s the first time. */
  endpoint({
    method: 'GET',
    path: `${at}/diffs`,
    summary: 'List diffs of a merge request',
    description: 'All diffs that `/changes` has at once and cut.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    large: 'difference',
    returns: DiffEntry,
    async handle({ subject: { project, head_oid: head, start_oid: start, base_oid: base }, page, ctx }) {
      const { files } =
        head && start ? await patchesOf(ctx, openRepository(ctx, project), { head, base }, { whole: true }) : nothing
      return slicePage(files, page)
    },
  }),

  endpoint({
    method: 'GET',
    path: `${at}/versions`,
    summary: 'List diff versions',
    description: 'Returns one version for each push to the source branch. Newest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: MergeRequestVersion,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, versionRow, versionsOf(subject.id), page),
  }),

  /** Several `diff-tree`s the first time: the diff is complete as far as memory allows. */
  endpoint({
    method: 'GET',
    path: `${at}/versions/:version_id`,
    summary: 'Get a diff version',
    description: 'Returns the version with its commits and diffs.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({ version_id: Id({ description: 'ID of the version' }) }),
    large: 'difference',
    returns: MergeRequestVersionDetail,
    async handle({ subject: { id, project }, params, ctx }) {
      const version = await findVersionRow(ctx.db, id, params.version_id)
      if (!version) throw rowNotFound()
      const { head_oid: head, start_oid: start, base_oid: base } = version
      const [commits, { files, overflow }] = await Promise.all([
        allCommits(ctx, project, version.id),
        head && start ? patchesOf(ctx, openRepository(ctx, project), { head, base }, { whole: true }) : nothing,
      ])
      return { version, project, commits, files, cut: overflow }
    },
  }),
]
