import { Type } from 'typebox'
import { visibilityName } from '../../../access/levels.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { httpUrlToRepo, type Site, sshUrlToRepo } from '../../../api/site.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import { AuthorSchema, authorRecord } from '../../accounts/index.ts'
import { snippetBranch } from './branch.ts'
import type { SnippetRow } from './queries.ts'

const url = (description: string) => Type.String({ description })

type Located = Pick<SnippetRow, 'id' | 'full_path'>

/** The page of a snippet. */
const pageOf = (site: Site, { id, full_path }: Located): string =>
  `${site.url}/${full_path === null ? '-' : `${full_path}/-`}/snippets/${id}`

/** The path of its repository, below the URL of the site. */
export const repositoryPath = ({ id, full_path }: Located): string =>
  full_path === null ? `snippets/${id}` : `${full_path}/snippets/${id}`

export const Snippet = entity({
  name: 'Snippet',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the snippet' }),
    title: Type.String({ description: 'Title of the snippet' }),
    description: nullable(Type.String(), { description: 'Description in Markdown; null if there is none' }),
    visibility: Type.String({ enum: ['private', 'internal', 'public'], description: 'Who may read it' }),
    author: described(AuthorSchema, 'User who created the snippet'),
    created_at: timestamp('Time at which the snippet was created'),
    updated_at: timestamp('Time of the last change'),
    project_id: nullable(Type.Integer(), { description: 'ID of the project; null for a personal snippet' }),
    web_url: url('Page of the snippet'),
    raw_url: url('Content of its first file'),
    ssh_url_to_repo: url('Clone URL for SSH'),
    http_url_to_repo: url('Clone URL for HTTP'),
    file_name: Type.String({ description: 'Path of its first file' }),
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: 'Path in the repository' }),
          raw_url: url('Content of the file'),
        },
        { title: 'SnippetFile' },
      ),
      { description: 'Files, in the order of their paths' },
    ),
  }),
  present(row: SnippetRow, ctx) {
    const { site } = ctx
    const page = pageOf(site, row)
    const repository = repositoryPath(row)
    return {
      id: row.id,
      title: row.title,
      description: row.description,
      visibility: visibilityName(row.visibility) as string,
      author: authorRecord(row.author, ctx),
      created_at: row.created_at,
      updated_at: row.updated_at,
      project_id: row.project_id,
      web_url: page,
      raw_url: `${page}/raw`,
      ssh_url_to_repo: sshUrlToRepo(site, repository),
      http_url_to_repo: httpUrlToRepo(site, repository),
      file_name: row.file_name,
      files: row.files.map(({ path }) => ({
        path,
        raw_url: `${page}/raw/${snippetBranch}/${encodedPath(path)}`,
      })),
    }
  },
})
