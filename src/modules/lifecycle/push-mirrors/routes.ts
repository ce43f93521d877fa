import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Id, Optional, Params } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { RemoteMirror } from './entity.ts'
import { pushMirrorRow, pushMirrorsOf } from './queries.ts'
import { createPushMirror, editPushMirror, getPushMirror, removePushMirror, syncPushMirror } from './service.ts'

const mirror_id = Id({ description: 'ID of the mirror' })

const descriptions = {
  enabled: 'Update the mirror after each push',
  only_protected_branches: 'Push protected branches and tags only',
  keep_divergent_refs: 'Do not overwrite or delete refs of the remote repository that have commits of their own',
}

export const pushMirrorRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/remote_mirrors',
    summary: 'List push mirrors',
    description: 'Oldest first.',
    subject: project,
    allow: 'read_mirror',
    paged: true,
    returns: RemoteMirror,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, pushMirrorRow, pushMirrorsOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/remote_mirrors/:mirror_id',
    summary: 'Get a push mirror',
    subject: project,
    allow: 'read_mirror',
    params: Params({ mirror_id }),
    returns: RemoteMirror,
    handle: ({ subject, params, ctx }) => getPushMirror(ctx, subject.id, params.mirror_id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/remote_mirrors',
    summary: 'Create a push mirror',
    description: 'Its updates need the permission of the caller to set up mirrors.',
    subject: project,
    allow: 'admin_mirror',
    params: Params({
      url: Filled({ description: 'URL of the remote repository, http or https, with credentials if it needs them' }),
      enabled: Flag({ default: false, description: descriptions.enabled }),
      only_protected_branches: Flag({ default: false, description: descriptions.only_protected_branches }),
      keep_divergent_refs: Flag({ default: false, description: descriptions.keep_divergent_refs }),
    }),
    returns: RemoteMirror,
    handle: ({ subject, params, ctx }) => createPushMirror(ctx, subject, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/remote_mirrors/:mirror_id',
    summary: 'Update a push mirror',
    description: 'Its updates then need the permission of the caller to set up mirrors.',
    subject: project,
    allow: 'admin_mirror',
    params: Params({
      mirror_id,
      enabled: Optional(Flag({ description: descriptions.enabled })),
      only_protected_branches: Optional(Flag({ description: descriptions.only_protected_branches })),
      keep_divergent_refs: Optional(Flag({ description: descriptions.keep_divergent_refs })),
    }),
    returns: RemoteMirror,
    handle: ({ subject, params: { mirror_id: id, ...values }, ctx }) => editPushMirror(ctx, subject, id, values),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/remote_mirrors/:mirror_id/sync',
    summary: 'Start a push mirror',
    description: 'Updates the remote repository in the background. 400 if the mirror is disabled.',
    subject: project,
    allow: 'admin_mirror',
    params: Params({ mirror_id }),
    status: 204,
    returns: null,
    handle: ({ subject, params, ctx }) => syncPushMirror(ctx, subject, params.mirror_id),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/remote_mirrors/:mirror_id',
    summary: 'Delete a push mirror',
    description: 'The remote repository stays.',
    subject: project,
    allow: 'admin_project',
    params: Params({ mirror_id }),
    returns: null,
    handle: ({ subject, params, ctx }) => removePushMirror(ctx, subject, params.mirror_id),
  }),
]
