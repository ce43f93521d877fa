import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { type LinkRow, linkTypes } from './link-queries.ts'

export const LinkSchema = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the link' }),
    name: Type.String({ description: 'Name of the link' }),
    url: Type.String({ description: 'URL of the link' }),
    direct_asset_url: Type.String({ description: 'Same as `url`' }),
    external: Type.Boolean({ description: 'True for a link outside the project' }),
    link_type: Type.String({ description: 'Kind of the file', enum: [...linkTypes] }),
  },
  { title: 'ReleaseLink' },
)

export const linkRecord = (
  { id, name, url, link_type }: LinkRow,
  project: Pick<ProjectSubject, 'full_path'>,
  { site }: Pick<Ctx, 'site'>,
) => ({
  id,
  name,
  url,
  direct_asset_url: url,
  external: !url.startsWith(`${site.url}/${project.full_path}/`),
  link_type,
})

/** A link of a release to something that was built; the project is that of the release. */
export const ReleaseLink = entity({
  name: 'ReleaseLink',
  schema: LinkSchema,
  present: (row: { readonly link: LinkRow; readonly project: ProjectSubject }, ctx) =>
    linkRecord(row.link, row.project, ctx),
})
