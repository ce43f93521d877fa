import { endpoint } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { File, FilePath, Flag, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { WikiAttachment, WikiPage } from './entity.ts'
import { openWiki } from './holder.ts'
import { writableFormats } from './page-names.ts'
import { listPages, withContents } from './pages.ts'
import { renderPage } from './render.ts'
import { createPage, editPage, getPage, removePage, storeAttachment } from './service.ts'

const slug = FilePath({ maxLength: maxPathLength, description: 'Slug of the page, URL-encoded, such as `docs%2Fhome`' })
const title = Text({ maxLength: maxPathLength, description: 'Title; may begin with folders, such as `docs/How to`' })
const content = Text({ description: 'Source text of the page, at most 5 MB' })
const changes = {
  title: Optional(
    Text({
      maxLength: maxPathLength,
      description:
        'New title; without a folder, the page stays in its folder; with a leading slash, it moves to the root',
    }),
  ),
  content: Optional(content),
  format: Optional(OneOf(writableFormats, { description: 'New markup of the content' })),
}

export const wikiRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/wikis` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List wiki pages of a ${of}`,
      description: 'Ordered by slug. Empty until the first page is created.',
      subject,
      allow: 'read_wiki',
      params: Params({ with_content: Flag({ default: false, description: 'Include the content of the pages' }) }),
      paged: true,
      returns: WikiPage,
      async handle({ subject: held, params, page, ctx }) {
        const wiki = await openWiki(ctx, holderOf(held))
        const paged = slicePage(wiki ? await listPages(wiki.repo, wiki.head) : [], page)
        return wiki && params.with_content ? { ...paged, rows: await withContents(wiki.repo, paged.rows) } : paged
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:slug`,
      summary: `Get a ${of} wiki page`,
      subject,
      allow: 'read_wiki',
      params: Params({
        slug,
        version: Optional(Text({ description: 'Commit of the wiki in which to read the page; default: the latest' })),
        render_html: Flag({
          default: false,
          description: 'Return the content as HTML; markup other than Markdown as it is written',
        }),
      }),
      returns: WikiPage,
      async handle({ subject: held, params, ctx }) {
        const page = await getPage(ctx, holderOf(held), params.slug, params.version)
        return params.render_html ? renderPage(ctx, { of, full_path: held.full_path }, page) : page
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} wiki page`,
      description: 'The page is a file of the repository of the wiki, named by its title and format.',
      subject,
      allow: 'create_wiki',
      params: Params({
        title,
        content,
        format: OneOf(writableFormats, { default: 'markdown', description: 'Markup of the content' }),
      }),
      returns: WikiPage,
      handle: ({ subject: held, params, ctx }) => createPage(ctx, holderOf(held), params),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:slug`,
      summary: `Update a ${of} wiki page`,
      description: 'A 409 if another request changes the page at the same time.',
      subject,
      allow: 'create_wiki',
      params: Params({ slug, ...changes }, { atLeastOneOf: ['title', 'content', 'format'] }),
      returns: WikiPage,
      handle: ({ subject: held, params: { slug, ...change }, ctx }) => editPage(ctx, holderOf(held), slug, change),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:slug`,
      summary: `Delete a ${of} wiki page`,
      subject,
      allow: 'admin_wiki',
      params: Params({ slug }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removePage(ctx, holderOf(held), params.slug),
    }),

    endpoint({
      method: 'POST',
      path: `${path}/attachments`,
      summary: `Upload a ${of} wiki attachment`,
      description: 'Commits the file to the repository of the wiki and returns links for its pages.',
      subject,
      allow: 'create_wiki',
      params: Params({
        file: File({ description: 'File to store' }),
        branch: Optional(
          Text({ description: 'Only the default branch of the wiki is possible, which is the default' }),
        ),
      }),
      fileLimit: ({ max_attachment_size }) => max_attachment_size * 1024 * 1024,
      returns: WikiAttachment,
      handle: ({ subject: held, params, ctx }) => storeAttachment(ctx, holderOf(held), params.file, params.branch),
    }),
  ]
})
