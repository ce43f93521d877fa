import { endpoint } from '../../../api/endpoint.ts'
import { File, Id, Optional, Params, Text } from '../../../api/params/types.ts'
import { enqueue } from '../../../jobs/job.ts'
import { createGroup } from '../../groups/index.ts'
import { accepted, instance, Message } from '../../instance/index.ts'
import { importGroupArchive } from './group-jobs.ts'
import { archiveLimit } from './limit.ts'
import { insertArchiveImport } from './queries.ts'
import { acceptArchive, requireArchiveImports } from './service.ts'

export const groupImportRoutes = [
  endpoint({
    method: 'POST',
    path: '/groups/import',
    summary: 'Create a group from an archive',
    description:
      'Creates a private group from an archive that an export has made, and then the groups below it. Only administrators import members. If it fails, the group stays empty and a mail has the reason.',
    subject: instance,
    allow: 'use',
    params: Params({
      name: Text({ description: 'Name of the new group' }),
      path: Text({ description: 'Last segment of its path' }),
      file: File({ description: 'Archive that an export has made, a `tar.gz`' }),
      parent_id: Optional(Id({ description: 'ID of the parent group; default: a group at the top level' })),
    }),
    fileLimit: archiveLimit,
    status: 202,
    returns: Message,
    async handle({ params: { file, ...input }, ctx }) {
      requireArchiveImports(ctx)
      const digest = await acceptArchive(ctx, file)
      await createGroup(ctx, { ...input, visibility: 'private' }, async (tx, groupId) => {
        const userId = ctx.actor!.id
        await insertArchiveImport(tx, { of: 'group', id: groupId }, { userId, digest, chosen: [], replacesId: null })
        await enqueue(tx, importGroupArchive, { groupId })
      })
      return accepted
    },
  }),
]
