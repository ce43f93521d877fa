import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { ofProjectsAndGroups, type ProjectOrGroup } from '../holders/project-or-group.ts'
import { Badge, BadgePreview } from './entity.ts'
import { type BadgeRow, badgeRow, badgesOf, findBadge } from './queries.ts'
import { checkUrls, createBadge, editBadge, removeBadge } from './service.ts'

const badgeId = Id({ description: 'ID of the badge' })
const linkUrl = Text({ description: 'Link URL; may contain placeholders such as `%{project_path}`' })
const imageUrl = Text({ description: 'Image URL; may contain placeholders' })
const name = Optional(Nullable(Text({ description: 'Name' })))

export const badgeRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/badges` as const
  const seen = (badge: BadgeRow, held: ProjectOrGroup) => ({ ...badge, shown: holderOf(held) })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List badges of a ${of}`,
      ...(of === 'project' && { description: 'Includes the badges of its ancestor groups.' }),
      subject,
      allow: 'read_badge',
      params: Params({ name: Optional(Text({ description: 'Only with this name' })) }),
      paged: true,
      returns: Badge,
      async handle({ subject: held, params, page, ctx }) {
        const found = await fetchPage(ctx.db, badgeRow, badgesOf(holderOf(held), params.name), page)
        return { ...found, rows: found.rows.map((badge) => seen(badge, held)) }
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/render`,
      summary: `Preview a ${of} badge`,
      description: 'Returns the addresses with their placeholders filled in.',
      subject,
      allow: 'admin_badge',
      params: Params({ link_url: linkUrl, image_url: imageUrl }),
      returns: BadgePreview,
      async handle({ subject: held, params: { link_url, image_url } }) {
        checkUrls({ link_url, image_url })
        return { name: null, link_url, image_url, shown: holderOf(held) }
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:badge_id`,
      summary: `Get a ${of} badge`,
      subject,
      allow: 'read_badge',
      params: Params({ badge_id: badgeId }),
      returns: Badge,
      async handle({ subject: held, params, ctx }) {
        const badge = await findBadge(ctx.db, holderOf(held), params.badge_id)
        if (!badge) throw rowNotFound()
        return seen(badge, held)
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} badge`,
      subject,
      allow: 'admin_badge',
      params: Params({ link_url: linkUrl, image_url: imageUrl, name }),
      returns: Badge,
      handle: async ({ subject: held, params: { link_url, image_url, name: title = null }, ctx }) =>
        seen(await createBadge(ctx, holderOf(held), { link_url, image_url, name: title }), held),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:badge_id`,
      summary: `Update a ${of} badge`,
      subject,
      allow: 'admin_badge',
      params: Params({ badge_id: badgeId, link_url: Optional(linkUrl), image_url: Optional(imageUrl), name }),
      returns: Badge,
      handle: async ({ subject: held, params: { badge_id, link_url, image_url, name: title }, ctx }) =>
        seen(await editBadge(ctx, holderOf(held), badge_id, { link_url, image_url, name: title }), held),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:badge_id`,
      summary: `Delete a ${of} badge`,
      subject,
      allow: 'admin_badge',
      params: Params({ badge_id: badgeId }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeBadge(ctx, holderOf(held), params.badge_id),
    }),
  ]
})
