import { endpoint } from '../../../api/endpoint.ts'
import { File, Filled, Flag, IdOrName, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { ProjectImport } from '../../lifecycle/index.ts'
import { writeParams } from '../../projects/index.ts'
import { archiveLimit } from './limit.ts'
import { acceptArchive, acceptRemote, requireArchiveImports, startImport } from './service.ts'

const { name: _name, path: _path, avatar: _avatar, ...written } = writeParams
const attributes = {
  ...written,
  default_branch: Optional(Text({ description: 'Default branch, if the archive has such a branch' })),
} as const

const importParams = {
  path: Filled({ description: 'Path of the new project' }),
  namespace: Optional(
    IdOrName({ description: 'Namespace ID or full path; default: the personal namespace of the caller' }),
  ),
  name: Optional(
    Text({ description: 'Name of the new project; default: the path, or the name of the replaced project' }),
  ),
  overwrite: Flag({ default: false, description: 'Replace a project with the same path, when the import is complete' }),
  override_params: Optional(
    Params(attributes, {
      description: 'Attributes of the project, as for its creation; they win over those of the archive',
    }),
  ),
} as const

export const projectImportRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/import',
    summary: 'Create a project from an archive',
    description:
      'Creates a project from an archive that an export has made. Returns at once; the project is filled when `import_status` is `finished`. The archive gives no one rights: administrators import members, and everything that other importers import is theirs.',
    subject: instance,
    allow: 'use',
    params: Params({ file: File({ description: 'Archive that an export has made, a `tar.gz`' }), ...importParams }),
    fileLimit: archiveLimit,
    returns: ProjectImport,
    async handle({ params: { file, ...input }, ctx }) {
      requireArchiveImports(ctx)
      return startImport(ctx, input, { digest: await acceptArchive(ctx, file) })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/remote-import',
    summary: 'Create a project from remote archive',
    description:
      'As an import of an uploaded archive. The archive is downloaded in the background, and its size is limited as that of uploads.',
    subject: instance,
    allow: 'use',
    params: Params({ url: Filled({ description: 'URL of the archive, http or https' }), ...importParams }),
    returns: ProjectImport,
    async handle({ params: { url, ...input }, ctx }) {
      requireArchiveImports(ctx)
      return startImport(ctx, input, await acceptRemote(ctx, url))
    },
  }),
]
