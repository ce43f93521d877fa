import { endpoint } from '../../../api/endpoint.ts'
import { FilePath, Filled, Optional, Params, Text } from '../../../api/params/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { project } from '../../projects/index.ts'
import { CommitDetail } from '../commits/entity.ts'
import { maxMessageLength } from '../commits/write-params.ts'
import { createCommit } from '../commits/write-service.ts'

export const submoduleRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id/repository/submodules/:submodule',
    summary: 'Update a submodule',
    description: 'Commits a new target commit of the submodule.',
    subject: project,
    allow: 'push_code',
    params: Params({
      submodule: FilePath({ maxLength: maxPathLength, description: 'Full path of the submodule, URL-encoded' }),
      branch: Filled({ description: 'Branch to commit to' }),
      commit_sha: Text({
        pattern: '^(?!0{40})[0-9a-f]{40}$',
        description: 'New commit of the submodule; not verified',
      }),
      commit_message: Optional(
        Text({ maxLength: maxMessageLength, description: 'Commit message; default: describes the change' }),
      ),
    }),
    returns: CommitDetail,
    async handle({ subject, params: { submodule, branch, commit_sha, commit_message }, ctx }) {
      const commit = await createCommit(ctx, {
        project: subject,
        branch,
        start: {},
        actions: [{ action: 'point', file_path: submodule, commit: commit_sha as Oid }],
        message: commit_message?.trim() ? commit_message : `Update submodule ${submodule} with oid ${commit_sha}`,
        author: {},
        refusal: 'invalid',
        stale: () => '',
      })
      return { commit, project: subject }
    },
  }),
]
