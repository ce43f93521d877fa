import { endpoint, raw } from '../../../api/endpoint.ts'
import { Flag, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { diskPath, project } from '../../projects/index.ts'
import { findSideRepository } from '../../pushes/index.ts'
import { ProjectStorage } from './entity.ts'
import { projectCreation } from './queries.ts'
import { snapshotBody } from './snapshot.ts'

export const storageRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/storage',
    summary: 'Get the storage of a project',
    subject: project,
    allow: 'read_storage',
    returns: ProjectStorage,
    async handle({ subject, ctx }) {
      const creation = await projectCreation(ctx.db, subject.id)
      if (!creation) throw notFound('Project')
      return { ...creation, project: subject, path: diskPath(subject) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/snapshot',
    summary: 'Download a repository snapshot',
    description:
      'Returns a tar of the bare repository, with all refs and objects. The project can be in use meanwhile.',
    subject: project,
    allow: 'read_storage',
    params: Params({
      wiki: Flag({
        default: false,
        description: 'Repository of the wiki instead; a 404 before its first page',
      }),
    }),
    headers: { 'Content-Disposition': 'Name of the file' },
    returns: raw('application/x-tar'),
    async handle({ subject, params, ctx, reply, head }) {
      if (!params.wiki) return snapshotBody(ctx, subject, subject.path, { reply, head })
      const wiki = await findSideRepository(ctx.db, { kind: 'project_wiki', id: subject.id })
      if (!wiki) throw notFound('Wiki')
      return snapshotBody(ctx, wiki, `${subject.path}.wiki`, { reply, head })
    },
  }),
]
