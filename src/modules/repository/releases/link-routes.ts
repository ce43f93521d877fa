import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { project } from '../../projects/index.ts'
import { ReleaseLink } from './link-entity.ts'
import { findLink, linkRow, linksOf, linkTypes } from './link-queries.ts'
import { createLink, editLink, removeLink } from './link-service.ts'
import { getRelease } from './service.ts'

const tag_name = Text({ description: 'Tag name, URL-encoded' })
const link_id = Id({ description: 'ID of the link' })
const name = Text({ description: 'Name of the link' })
const url = Text({ description: 'URL: http, https or ftp' })
const type = { description: 'Type of the link' }

/** A new link. */
export const linkParams = { name, url, link_type: OneOf(linkTypes, { ...type, default: 'other' }) }

const path = '/projects/:id/releases/:tag_name/assets/links'

export const releaseLinkRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List links of a release',
    description: 'Newest first.',
    subject: project,
    allow: 'read_code',
    params: Params({ tag_name }),
    paged: true,
    returns: ReleaseLink,
    async handle({ subject, params, page, ctx }) {
      const { id } = await getRelease(ctx, subject, params.tag_name)
      const found = await fetchPage(ctx.db, linkRow, linksOf(id), page)
      return { ...found, rows: found.rows.map((link) => ({ link, project: subject })) }
    },
  }),

  endpoint({
    method: 'GET',
    path: `${path}/:link_id`,
    summary: 'Get a release link',
    subject: project,
    allow: 'read_code',
    params: Params({ tag_name, link_id }),
    returns: ReleaseLink,
    async handle({ subject, params, ctx }) {
      const { id } = await getRelease(ctx, subject, params.tag_name)
      const link = await findLink(ctx.db, id, params.link_id)
      if (!link) throw rowNotFound()
      return { link, project: subject }
    },
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create a release link',
    subject: project,
    allow: 'admin_tag',
    params: Params({ tag_name, ...linkParams }),
    returns: ReleaseLink,
    handle: async ({ subject, params: { tag_name: tag, ...values }, ctx }) => ({
      link: await createLink(ctx, subject, tag, values),
      project: subject,
    }),
  }),

  endpoint({
    method: 'PUT',
    path: `${path}/:link_id`,
    summary: 'Update a release link',
    subject: project,
    allow: 'admin_tag',
    params: Params({
      tag_name,
      link_id,
      name: Optional(name),
      url: Optional(url),
      link_type: Optional(OneOf(linkTypes, type)),
    }),
    returns: ReleaseLink,
    handle: async ({ subject, params: { tag_name: tag, link_id: id, ...changes }, ctx }) => ({
      link: await editLink(ctx, subject, tag, id, changes),
      project: subject,
    }),
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:link_id`,
    summary: 'Delete a release link',
    subject: project,
    allow: 'admin_tag',
    params: Params({ tag_name, link_id }),
    status: 200,
    returns: ReleaseLink,
    handle: async ({ subject, params, ctx }) => ({
      link: await removeLink(ctx, subject, params.tag_name, params.link_id),
      project: subject,
    }),
  }),
]
