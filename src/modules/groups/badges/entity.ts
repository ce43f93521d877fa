import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { fill, valuesOfProject } from './placeholders.ts'
import { type BadgeValues, firstProjectIn } from './queries.ts'

/** Where a badge is displayed: in a project, or in a group, which is represented by its oldest project. */
export type Shown = { readonly of: 'project' | 'group'; readonly id: number }

const rendered = {
  name: nullable(Type.String(), { description: 'Name of the badge; null if there is none' }),
  link_url: Type.String({ description: 'URL that the badge links to, with placeholders such as `%{project_path}`' }),
  image_url: Type.String({ description: 'URL of the image, with placeholders' }),
  rendered_link_url: Type.String({ description: 'URL of the link with placeholders filled in' }),
  rendered_image_url: Type.String({ description: 'URL of the image with placeholders filled in' }),
}

type Row = BadgeValues & { readonly shown: Shown }

/** All rows of a page are displayed in the same place. */
const gather = async (rows: readonly Row[], ctx: Parameters<typeof valuesOfProject>[0]) => {
  const { of, id } = rows[0]!.shown
  const projectId = of === 'project' ? id : await firstProjectIn(ctx.db, ctx.actor, id)
  return valuesOfProject(
    ctx,
    projectId,
    rows.flatMap(({ link_url, image_url }) => [link_url, image_url]),
  )
}

const renderedOf = ({ name, link_url, image_url }: Row, values: Parameters<typeof fill>[1]) => ({
  name,
  link_url,
  image_url,
  rendered_link_url: fill(link_url, values),
  rendered_image_url: fill(image_url, values),
})

export const Badge = entity({
  name: 'Badge',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the badge' }),
    ...rendered,
    kind: Type.String({
      description: 'Owner of the badge; projects also show the badges of their groups',
      enum: ['project', 'group'],
    }),
  }),
  gather,
  present: (row: Row & { id: number; kind: string }, _ctx, values) => ({
    id: row.id,
    ...renderedOf(row, values),
    kind: row.kind,
  }),
})

/** Preview of a badge. */
export const BadgePreview = entity({
  name: 'BadgePreview',
  schema: Type.Object(rendered),
  gather,
  present: (row: Row, _ctx, values) => renderedOf(row, values),
})
