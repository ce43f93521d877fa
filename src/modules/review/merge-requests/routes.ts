import { endpoint } from '../../../api/endpoint.ts'
import { CommaList, Filled, Flag, Id, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getDetail } from './detail.ts'
import { MergeRequestDetail } from './detail-entity.ts'
import { editMergeRequest } from './edit.ts'
import { checkUnchecked } from './list.ts'
import { approvals_before_merge, assignee_id, attributeParams, description, namedOnce } from './params.ts'
import { removeMergeRequest } from './remove.ts'
import { createMergeRequest } from './service.ts'
import { mergeRequest } from './subject.ts'

export const mergeRequestRoutes = [
  /** A walk of the commits, and one `diff-tree`; from a fork, its commits are brought over. */
  endpoint({
    method: 'POST',
    path: '/projects/:id/merge_requests',
    summary: 'Create a merge request',
    subject: project,
    allow: 'create_merge_request_from',
    params: Params({
      source_branch: Text({ description: 'Branch of this project' }),
      target_branch: Text({ description: 'Branch into which it is to be merged' }),
      target_project_id: Optional(Id({ description: 'Its project, of the same fork network; this one without' })),
      title: Text({ description: 'What it is about' }),
      milestone_id: Optional(Id({ description: 'Milestone of the target or of a group around it' })),
      description: Optional(description),
      assignee_id: Optional(assignee_id),
      approvals_before_merge,
      ...attributeParams,
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      const { target, id } = await createMergeRequest(ctx, subject, namedOnce(params))
      return getDetail(ctx, target, id, {
        within: { of: 'project', id: subject.id, full_path: subject.full_path },
      })
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'Get a merge request',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({
      include_diverged_commits_count: Flag({ default: false, description: 'With diverged_commits_count' }),
      include_rebase_in_progress: Flag({ default: false, description: 'With rebase_in_progress' }),
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await checkUnchecked(ctx, [subject])
      return getDetail(ctx, subject.project, subject.id, {
        divergedCommits: params.include_diverged_commits_count,
        rebasing: params.include_rebase_in_progress,
      })
    },
  }),

  /** With another target branch, or to open it again: costs what making one does. */
  endpoint({
    method: 'PUT',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'Update a merge request',
    description: '`state_event` closes or reopens it.',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params(
      {
        ...attributeParams,
        title: Optional(Filled({ description: 'What it is about' })),
        description: Optional(Nullable(description)),
        target_branch: Optional(Filled({ description: 'Branch into which it is to be merged' })),
        state_event: Optional(OneOf(['close', 'reopen'], { description: 'What is to become of it' })),
        assignee_id: Optional(Nullable(assignee_id)),
        add_labels: Optional(CommaList(Text(), { description: 'Titles of labels to put on' })),
        remove_labels: Optional(CommaList(Text(), { description: 'Titles of labels to take off' })),
        milestone_id: Optional(Nullable(Id({ description: '0 for none' }))),
        discussion_locked: Optional(Flag({ description: 'Only members go on talking' })),
      },
      {
        atLeastOneOf: [
          'assignee_id',
          'assignee_ids',
          'description',
          'labels',
          'add_labels',
          'remove_labels',
          'milestone_id',
          'remove_source_branch',
          'allow_collaboration',
          'allow_maintainer_to_push',
          'state_event',
          'target_branch',
          'title',
          'discussion_locked',
          'squash',
        ],
      },
    ),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await editMergeRequest(ctx, subject, namedOnce(params))
      return getDetail(ctx, subject.project, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'Delete a merge request',
    description: 'Its branches stay.',
    subject: mergeRequest,
    allow: 'remove_merge_request',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeMergeRequest(ctx, subject),
  }),
]
