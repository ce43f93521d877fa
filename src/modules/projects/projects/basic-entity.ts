import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { httpUrlToRepo, type Site, sshUrlToRepo } from '../../../api/site.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import { namespacePicture, namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import type { ForkSource, ProjectRecordRow } from './record-queries.ts'
import { projectFacts } from './subject.ts'

/** Fields by which other records name a project. */
export const projectReferenceFields = {
  id: Type.Integer({ description: 'ID of the project' }),
  description: nullable(Type.String(), { description: 'Description of the project; null if there is none' }),
  name: Type.String({ description: 'Name of the project' }),
  name_with_namespace: Type.String({
    description: 'Names of all parent groups, or of the owner, and of the project, joined by ` / `',
  }),
  path: Type.String({ description: 'Last segment of the path' }),
  path_with_namespace: Type.String({ description: 'Path with all parent groups or the owner' }),
  created_at: timestamp('Time at which the project was created'),
}

/** Fields that everyone who sees a project sees. */
export const basic = {
  id: Type.Integer({ description: 'ID of the project' }),
  description: nullable(Type.String(), { description: 'Description; null if there is none' }),
  default_branch: Type.Optional(
    nullable(
      Type.String({ description: 'Default branch, only for users who may read the code; null in an empty repository' }),
    ),
  ),
  ssh_url_to_repo: Type.String({ description: 'Clone URL for SSH' }),
  http_url_to_repo: Type.String({ description: 'Clone URL for HTTP' }),
  web_url: Type.String({ description: 'URL of the project page' }),
  readme_url: nullable(Type.String(), {
    description: 'URL of the README; null if there is none or the caller may not read the code',
  }),
  tag_list: Type.Array(Type.String(), { description: 'Same as `topics`' }),
  topics: Type.Array(Type.String(), { description: 'Topics of the project' }),
  name: Type.String({ description: 'Name of the project' }),
  name_with_namespace: Type.String({
    description: 'Names of all parent groups, or of the owner, and of the project, joined by ` / `',
  }),
  path: Type.String({ description: 'Last segment of the path' }),
  path_with_namespace: Type.String({ description: 'Path with all parent groups or the owner' }),
  created_at: timestamp('Time at which the project was created'),
  last_activity_at: timestamp(
    'Time of the last push, import, note, or change of an issue, merge request, snippet or wiki page, to within ten seconds; at first that of the creation',
  ),
  forks_count: Type.Integer({ description: 'Number of forks' }),
  avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  star_count: Type.Integer({ description: 'Number of users who starred the project' }),
}

/** URL of the page of a file; null without a branch or a file. */
export const blobUrl = (site: Site, fullPath: string, branch: string | null, path: string | null) =>
  branch === null || path === null ? null : `${site.url}/${fullPath}/-/blob/${encodedPath(branch)}/${encodedPath(path)}`

export const basicOf = (row: ProjectRecordRow | ForkSource, { site }: RecordView, readsCode: boolean) => ({
  id: row.id,
  description: row.description,
  ...(readsCode && { default_branch: row.default_branch }),
  ssh_url_to_repo: sshUrlToRepo(site, row.full_path),
  http_url_to_repo: httpUrlToRepo(site, row.full_path),
  web_url: `${site.url}/${row.full_path}`,
  readme_url: readsCode ? blobUrl(site, row.full_path, row.default_branch, row.readme_path) : null,
  tag_list: row.topics,
  topics: row.topics,
  name: row.name,
  name_with_namespace: `${row.namespace_full_name} / ${row.name}`,
  path: row.path,
  path_with_namespace: row.full_path,
  created_at: row.created_at,
  last_activity_at: row.last_activity_at,
  forks_count: row.forks_count,
  avatar_url: pictureUrl(site, 'project', row.id, row.avatar),
  star_count: row.star_count,
})

/** Fields for `simple=true` and for anonymous callers. */
export const ProjectSimple = cacheableEntity({
  name: 'ProjectSimple',
  schema: Type.Object(basic),
  present: (row: ProjectRecordRow, view) => basicOf(row, view, readsCode(row, view)),
})

export const namespace = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the namespace' }),
    name: Type.String({ description: 'Name of the group or user' }),
    path: Type.String({ description: 'Last segment of the path' }),
    kind: Type.String({ description: 'Kind of the namespace: of a user, or a group', enum: ['user', 'group'] }),
    full_path: Type.String({ description: 'Path with all parent groups' }),
    parent_id: nullable(Type.Integer(), { description: 'ID of the parent group; null for users and top-level groups' }),
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
    web_url: Type.String({ description: 'URL of the group or profile page' }),
  },
  { title: 'ProjectNamespace', description: 'Group or user that the project belongs to' },
)

export const namespaceOf = (row: ProjectRecordRow, view: RecordView) => ({
  id: row.namespace_id,
  name: row.namespace_name,
  path: row.namespace_path,
  kind: row.namespace_kind,
  full_path: row.namespace_full_path,
  parent_id: row.namespace_parent_id,
  avatar_url: namespacePicture({ id: row.namespace_id, avatar: row.namespace_avatar, owner: row.owner }, view),
  web_url: namespaceUrl(view.site, row.namespace_kind, row.namespace_full_path),
})

/** One project as an anonymous caller sees it. */
export const ProjectPublic = cacheableEntity({
  name: 'ProjectPublic',
  schema: Type.Object({ ...basic, namespace }),
  present: (row: ProjectRecordRow, view) => ({
    ...basicOf(row, view, readsCode(row, view)),
    namespace: namespaceOf(row, view),
  }),
})

const readsCode = (row: ProjectRecordRow, { actor }: RecordView): boolean =>
  allows(projectPolicy.read_code, actor, projectFacts(row))
