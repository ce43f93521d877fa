import { endpoint } from '../../../api/endpoint.ts'
import { CommaList, Filled, Flag, Id, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getDetail } from '../merge-requests/detail.ts'
import { MergeRequestDetail } from '../merge-requests/detail-entity.ts'
import {
  approvals_before_merge,
  assignee_id,
  attributeParams,
  description,
  namedOnce,
} from '../merge-requests/params.ts'
import { removeMergeRequest } from '../merge-requests/remove.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { createDescribed, editDescribed } from './described.ts'

export const mergeRequestRoutes = [
  /** A walk of the commits and one `diff-tree`; for a fork also a fetch of its commits. */
  endpoint({
    method: 'POST',
    path: '/projects/:id/merge_requests',
    summary: 'Create a merge request',
    description: 'Quick actions in the description, such as `/label ~bug`, are applied and removed from it.',
    subject: project,
    allow: 'create_merge_request_from',
    params: Params({
      source_branch: Text({ description: 'Branch to merge' }),
      target_branch: Text({ description: 'Branch to merge into' }),
      target_project_id: Optional(
        Id({ description: 'ID of the target project in the same fork network; default: this project' }),
      ),
      title: Text({ description: 'Title of the merge request' }),
      milestone_id: Optional(Id({ description: 'ID of a milestone of the target project or of its ancestor groups' })),
      description: Optional(description),
      assignee_id: Optional(assignee_id),
      approvals_before_merge,
      ...attributeParams,
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      const { target, id } = await createDescribed(ctx, subject, namedOnce(params))
      return getDetail(ctx, target, id, {
        within: { of: 'project', id: subject.id, full_path: subject.full_path },
      })
    },
  }),

  /** For a new target branch, or on reopening: as expensive as creation. */
  endpoint({
    method: 'PUT',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'Update a merge request',
    description:
      '`state_event` closes or reopens it. Quick actions in the description are applied and removed from it.',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params(
      {
        ...attributeParams,
        title: Optional(Filled({ description: 'Title of the merge request' })),
        description: Optional(Nullable(description)),
        target_branch: Optional(Filled({ description: 'Branch to merge into' })),
        state_event: Optional(OneOf(['close', 'reopen'], { description: 'Event that changes the state' })),
        assignee_id: Optional(Nullable(assignee_id)),
        add_labels: Optional(CommaList(Text(), { description: 'Titles of labels to add' })),
        remove_labels: Optional(CommaList(Text(), { description: 'Titles of labels to remove' })),
        milestone_id: Optional(Nullable(Id({ description: '0 removes it' }))),
        discussion_locked: Optional(Nullable(Flag({ description: 'Only members may comment' }))),
      },
      {
        atLeastOneOf: [
          'assignee_id',
          'assignee_ids',
          'reviewer_ids',
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
          'draft',
        ],
      },
    ),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await editDescribed(ctx, subject, namedOnce(params))
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
