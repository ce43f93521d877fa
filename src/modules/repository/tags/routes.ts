import { endpoint } from '../../../api/endpoint.ts'
import { Filled, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { openRepository, project } from '../../projects/index.ts'
import { maxTagMessage } from '../commits/new-tag.ts'
import { pageTokenParam, tokenPage, tokensIn } from '../commits/token-page.ts'
import { maxReleaseNotes } from '../releases/notes.ts'
import { Tag, TagRelease } from './entity.ts'
import {
  addRelease,
  createTag,
  deleteTag,
  editRelease,
  findTags,
  getTag,
  nameOfTag,
  tagChangedAt,
  tagRows,
} from './service.ts'

const tagName = Text({ description: 'Tag name, URL-encoded' })
const description = Text({ maxLength: maxReleaseNotes, description: 'Release notes in Markdown' })

export const tagRoutes = [
  /** One process for all names. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/tags',
    summary: 'List tags',
    subject: project,
    allow: 'read_code',
    params: Params({
      order_by: OneOf(['name', 'updated', 'version'], {
        default: 'updated',
        description: 'Order: by name, by the time of the newest commit, or by version number',
      }),
      sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction: ascending or descending' }),
      search: Optional(Text({ description: 'Part of the name; `^x` matches the start, `x$` the end' })),
      page_token: pageTokenParam('the last name of the previous page'),
    }),
    paged: true,
    returns: Tag,
    async handle({ subject, params, page, ctx, reply }) {
      const repo = openRepository(ctx, subject)
      const order = params.sort === 'asc' ? params.order_by : (`-${params.order_by}` as const)
      const tags = await findTags(repo, params.search, order)
      const found = tokenPage(tags, page, tokensIn(tags, nameOfTag), {
        token: params.page_token,
        url: `${ctx.site.apiUrl}/projects/${subject.id}/repository/tags`,
        query: { order_by: params.order_by, sort: params.sort, search: params.search },
        reply,
      })
      return { ...found, rows: await tagRows(ctx, repo, subject, found.rows) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/tags/:tag_name',
    summary: 'Get a tag',
    subject: project,
    allow: 'read_code',
    params: Params({ tag_name: tagName }),
    returns: Tag,
    handle: ({ subject, params, ctx }) => getTag(ctx, subject, params.tag_name),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/tags',
    summary: 'Create a tag',
    subject: project,
    allow: 'admin_tag',
    params: Params({
      tag_name: Filled({ description: 'Name of the new tag' }),
      ref: Filled({ description: 'Branch, tag or commit on which to create it' }),
      message: Optional(Text({ maxLength: maxTagMessage, description: 'Message; creates an annotated tag' })),
      release_description: Optional(
        Text({ maxLength: maxReleaseNotes, description: 'Release notes in Markdown; creates a release' }),
      ),
    }),
    returns: Tag,
    handle: ({ subject, params, ctx }) => createTag(ctx, subject, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/repository/tags/:tag_name',
    summary: 'Delete a tag',
    description: 'Deletes its release notes as well.',
    subject: project,
    allow: 'admin_tag',
    params: Params({ tag_name: tagName }),
    changedAt: (subject, params, ctx) => tagChangedAt(ctx, subject, params.tag_name),
    returns: null,
    handle: ({ subject, params, ctx, requireUnmodified }) =>
      deleteTag(ctx, subject, params.tag_name, requireUnmodified),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/tags/:tag_name/release',
    summary: 'Create release notes (deprecated)',
    description: 'Deprecated form of the releases API.',
    deprecated: true,
    subject: project,
    allow: 'admin_tag',
    params: Params({ tag_name: tagName, description }),
    returns: TagRelease,
    handle: ({ subject, params, ctx }) => addRelease(ctx, subject, params.tag_name, params.description),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/repository/tags/:tag_name/release',
    summary: 'Update release notes (deprecated)',
    description: 'Deprecated form of the releases API.',
    deprecated: true,
    subject: project,
    allow: 'admin_tag',
    params: Params({ tag_name: tagName, description }),
    returns: TagRelease,
    handle: ({ subject, params, ctx }) => editRelease(ctx, subject, params.tag_name, params.description),
  }),
]
