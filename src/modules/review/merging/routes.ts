import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { listPipelinesFor, Pipeline, pipelineRow } from '../../ci/index.ts'
import { loadProject } from '../../projects/index.ts'
import { getDetail } from '../merge-requests/detail.ts'
import { MergeRequestDetail } from '../merge-requests/detail-entity.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { cancelAutoMerge } from './auto-merge.ts'
import { MergeRef, RebaseProgress } from './entity.ts'
import { ensureMergeRef } from './merge-ref.ts'
import { merge } from './merge-service.ts'
import { requestRebase } from './rebase.ts'

const at = '/projects/:id/merge_requests/:merge_request_iid'

export const mergingRoutes = [
  /** At most two `merge-tree` processes; more if concurrent merges move the branch. */
  endpoint({
    method: 'PUT',
    path: `${at}/merge`,
    summary: 'Merge a merge request',
    subject: mergeRequest,
    allow: 'merge',
    params: Params({
      merge_commit_message: Optional(Text({ description: 'Message of the merge commit' })),
      squash_commit_message: Optional(Text({ description: 'Message of the squash commit' })),
      squash: Optional(Flag({ description: 'Squash the commits; default: the setting of the merge request' })),
      should_remove_source_branch: Optional(Flag({ description: 'Delete the source branch after the merge' })),
      merge_when_pipeline_succeeds: Flag({
        default: false,
        description: 'Merge when the pipeline succeeds',
      }),
      sha: Optional(Text({ description: 'Head of the source branch; the call fails with 409 if it differs' })),
    }),
    notAcceptable: 'The branches conflict, or the project requires a rebase first',
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await merge(ctx, subject, params)
      return getDetail(ctx, subject.project, subject.id)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${at}/cancel_merge_when_pipeline_succeeds`,
    summary: 'Cancel automatic merge',
    description: 'The merge request is no longer merged when its pipeline succeeds.',
    subject: mergeRequest,
    allow: 'merge',
    notAcceptable: 'Automatic merge is not set',
    returns: MergeRequestDetail,
    async handle({ subject, ctx }) {
      await cancelAutoMerge(ctx, subject)
      return getDetail(ctx, subject.project, subject.id)
    },
  }),

  endpoint({
    method: 'PUT',
    path: `${at}/rebase`,
    summary: 'Rebase a merge request',
    description: 'Rebases the source branch onto the target branch in the background.',
    subject: mergeRequest,
    allow: 'rebase',
    status: 202,
    returns: RebaseProgress,
    async handle({ subject, ctx }) {
      await requestRebase(ctx, subject)
      return { rebasing: true }
    },
  }),

  /** One `merge-tree` process if a branch has moved. */
  endpoint({
    method: 'GET',
    path: `${at}/merge_ref`,
    summary: 'Get the merge ref',
    description: 'Creates the merge commit that merging now would give and returns its hash.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    returns: MergeRef,
    handle: async ({ subject, ctx }) => ({ oid: await ensureMergeRef(ctx, subject) }),
  }),

  endpoint({
    method: 'GET',
    path: `${at}/pipelines`,
    summary: 'List merge request pipelines',
    description: 'Newest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: Pipeline,
    async handle({ subject, page, ctx }) {
      const { source_project_id: sourceId } = subject
      const project =
        sourceId === subject.project_id
          ? subject.project
          : sourceId === null
            ? undefined
            : await loadProject(String(sourceId), ctx)
      const isReadable = project !== undefined && allows(projectPolicy.read_pipeline, ctx.actor, project.facts)
      const list = listPipelinesFor(isReadable ? project.id : null, subject)
      const found = await fetchPage(ctx.db, pipelineRow, list, page)
      return { ...found, rows: found.rows.map((pipeline) => ({ pipeline, project: project! })) }
    },
  }),
]
