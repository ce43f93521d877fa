import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, List, Nullable, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { maxTagMessage } from '../commits/new-tag.ts'
import { releaseEntity } from './entity.ts'
import { linkParams } from './link-routes.ts'
import type { MilestonesOfReleases } from './milestones.ts'
import { maxReleaseNotes } from './notes.ts'
import { releaseOrders, releaseRow, releasesOf } from './queries.ts'
import { createRelease, editRelease, getLatestRelease, getRelease, removeRelease } from './service.ts'

const tag_name = Text({ description: 'Tag name, URL-encoded' })
const description = Text({ maxLength: maxReleaseNotes, description: 'Release notes in Markdown' })
const released_at = Optional(Timestamp({ description: 'Release time; default: now' }))
const titles = (description: string) => Optional(List(Text(), { maxItems: 100, description }))

/** The endpoints of releases, with milestones of a later module. */
export const releaseRoutes = (milestones: MilestonesOfReleases) => {
  const Release = releaseEntity(milestones)
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/releases',
      summary: 'List releases',
      description: 'Latest first.',
      subject: project,
      allow: 'read_release',
      params: Params({
        order_by: OneOf(releaseOrders, { default: 'released_at', description: 'Time to order by' }),
        sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction: ascending or descending' }),
      }),
      paged: true,
      returns: Release,
      async handle({ subject, params, page, ctx }) {
        const list = releasesOf(subject.id, { by: params.order_by, direction: params.sort })
        const found = await fetchPage(ctx.db, releaseRow, list, page)
        return { ...found, rows: found.rows.map((release) => ({ release, project: subject })) }
      },
    }),

    /** Compat: GitLab redirects to the release by its tag; clients notice no difference. */
    endpoint({
      method: 'GET',
      path: '/projects/:id/releases/permalink/latest',
      summary: 'Get the latest release',
      subject: project,
      allow: 'read_code',
      returns: Release,
      handle: async ({ subject, ctx }) => ({ release: await getLatestRelease(ctx, subject), project: subject }),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/releases/:tag_name',
      summary: 'Get a release',
      subject: project,
      allow: 'read_code',
      params: Params({ tag_name }),
      returns: Release,
      handle: async ({ subject, params, ctx }) => ({
        release: await getRelease(ctx, subject, params.tag_name),
        project: subject,
      }),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/releases',
      summary: 'Create a release',
      description: 'Creates the tag if it is missing.',
      subject: project,
      allow: 'admin_tag',
      params: Params({
        tag_name: Filled({ description: 'Name of the tag' }),
        tag_message: Optional(
          Text({ maxLength: maxTagMessage, description: 'Message of an annotated tag, if the tag is created' }),
        ),
        ref: Optional(Text({ description: 'Branch, tag or commit on which to create the tag' })),
        name: Optional(Text({ description: 'Name; default: the name of the tag' })),
        description: Optional(description),
        released_at,
        milestones: titles('Titles of milestones of the project or its groups'),
        assets: Optional(
          Params(
            {
              links: Optional(List(Params(linkParams), { maxItems: 100, description: 'Links to files elsewhere' })),
            },
            { description: 'What the release offers for download, besides its sources' },
          ),
        ),
      }),
      returns: Release,
      handle: async ({ subject, params: { assets, ...input }, ctx }) => ({
        release: await createRelease(ctx, subject, { ...input, links: assets?.links ?? [] }, milestones),
        project: subject,
      }),
    }),

    endpoint({
      method: 'PUT',
      path: '/projects/:id/releases/:tag_name',
      summary: 'Update a release',
      subject: project,
      allow: 'admin_tag',
      params: Params({
        tag_name,
        name: Optional(Nullable(Text({ description: 'Name; default: the name of the tag' }))),
        description: Optional(Nullable(description)),
        released_at,
        milestones: titles('Titles of all milestones from now on; empty for none'),
      }),
      returns: Release,
      handle: async ({ subject, params: { tag_name: tag, ...changes }, ctx }) => ({
        release: await editRelease(ctx, subject, tag, changes, milestones),
        project: subject,
      }),
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/releases/:tag_name',
      summary: 'Delete a release',
      description: 'The tag stays.',
      subject: project,
      allow: 'admin_tag',
      params: Params({ tag_name }),
      status: 200,
      returns: Release,
      handle: async ({ subject, params, ctx }) => ({
        release: await removeRelease(ctx, subject, params.tag_name),
        project: subject,
      }),
    }),
  ]
}
