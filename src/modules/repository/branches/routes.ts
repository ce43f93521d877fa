import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { enqueue } from '../../../jobs/job.ts'
import { accepted, Message } from '../../instance/index.ts'
import { openRepository, project } from '../../projects/index.ts'
import { protectOneBranch, unprotectOneBranch } from '../../pushes/index.ts'
import { pageTokenParam, tokenPage, tokensIn } from '../commits/token-page.ts'
import { Branch } from './entity.ts'
import { deleteMergedBranches } from './jobs.ts'
import { maxExpressionLength } from './ref-search.ts'
import {
  branchChangedAt,
  branchTexts,
  createBranch,
  deleteBranch,
  findBranches,
  getBranch,
  nameOfBranch,
} from './service.ts'

const branch = Text({ description: 'Branch name, URL-encoded' })
const orders = { name_asc: 'name', updated_asc: 'updated', updated_desc: '-updated' } as const

export const branchRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/branches',
    summary: 'List branches',
    subject: project,
    allow: 'read_code',
    params: Params({
      search: Optional(Text({ description: 'Part of the name; `^x` matches the start, `x$` the end' })),
      regex: Optional(
        Text({ maxLength: maxExpressionLength, description: 'Expression in RE2 syntax that matches in the name' }),
      ),
      sort: OneOf(['name_asc', 'updated_asc', 'updated_desc'], {
        default: 'name_asc',
        description: 'Order: by name, or by the time of the newest commit',
      }),
      page_token: pageTokenParam('the last name of the previous page'),
    }),
    paged: true,
    returns: Branch,
    async handle({ subject, params, page, ctx, reply }) {
      const repo = openRepository(ctx, subject)
      const branches = await findBranches(repo, params, orders[params.sort])
      const found = tokenPage(branches, page, tokensIn(branches, nameOfBranch), {
        token: params.page_token,
        url: `${ctx.site.apiUrl}/projects/${subject.id}/repository/branches`,
        query: { search: params.search, regex: params.regex, sort: params.sort },
        reply,
      })
      return { ...found, rows: await branchTexts(ctx, subject, found.rows) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/branches/:branch',
    summary: 'Get a branch',
    subject: project,
    allow: 'read_code',
    params: Params({ branch }),
    returns: Branch,
    handle: ({ subject, params, ctx }) => getBranch(ctx, subject, params.branch),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/branches',
    summary: 'Create a branch',
    description:
      'From the default branch of an empty repository, it first creates that branch, with a README as its first commit.',
    subject: project,
    allow: 'push_code',
    params: Params({
      branch: Filled({ description: 'Name of the new branch' }),
      ref: Filled({ description: 'Branch, tag or commit on which to create it' }),
    }),
    returns: Branch,
    handle: ({ subject, params, ctx }) => createBranch(ctx, subject, params.branch, params.ref),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/repository/branches/:branch',
    summary: 'Delete a branch',
    subject: project,
    allow: 'push_code',
    params: Params({ branch }),
    changedAt: (subject, params, ctx) => branchChangedAt(ctx, subject, params.branch),
    returns: null,
    handle: ({ subject, params, ctx, requireUnmodified }) =>
      deleteBranch(ctx, subject, params.branch, requireUnmodified),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/repository/merged_branches',
    summary: 'Delete merged branches',
    description: 'Deletes the branches that are merged into the default branch; protected branches stay.',
    subject: project,
    allow: 'push_code',
    status: 202,
    returns: Message,
    async handle({ subject, ctx }) {
      const input = { projectId: subject.id, actorId: ctx.actor!.id }
      await ctx.transaction((tx) => enqueue(tx, deleteMergedBranches, input))
      return accepted
    },
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/repository/branches/:branch/protect',
    summary: 'Protect a branch (deprecated)',
    description: 'Deprecated form of the protected branches API.',
    deprecated: true,
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({
      branch,
      developers_can_push: Optional(Flag({ description: 'Developers may push' })),
      developers_can_merge: Optional(Flag({ description: 'Developers may merge' })),
    }),
    returns: Branch,
    async handle({ subject, params, ctx }) {
      await getBranch(ctx, subject, params.branch)
      await protectOneBranch(ctx, subject, params.branch, {
        push: params.developers_can_push,
        merge: params.developers_can_merge,
      })
      return getBranch(ctx, subject, params.branch)
    },
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/repository/branches/:branch/unprotect',
    summary: 'Unprotect a branch (deprecated)',
    description: 'Deprecated form of the protected branches API.',
    deprecated: true,
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ branch }),
    returns: Branch,
    async handle({ subject, params, ctx }) {
      await getBranch(ctx, subject, params.branch)
      await unprotectOneBranch(ctx, subject, params.branch)
      return getBranch(ctx, subject, params.branch)
    },
  }),
]
