import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { allFormats, type PageName } from './page-names.ts'

/** A page; without content in lists that do not ask for it. */
export type PageRow = Pick<PageName, 'format' | 'slug' | 'title'> & { readonly content?: string | undefined }

export const WikiPage = entity({
  name: 'WikiPage',
  schema: Type.Object({
    content: Type.Optional(
      Type.String({
        description: 'Source text; in lists only with `with_content`, and never of a page above 5 MB',
      }),
    ),
    encoding: Type.Optional(Type.String({ description: 'Encoding of the content, always `UTF-8`' })),
    format: Type.String({ enum: [...allFormats], description: 'Markup of the content' }),
    slug: Type.String({ description: 'Name of the page in URLs: its path with hyphens for blanks' }),
    title: Type.String({ description: 'Last part of the slug, with blanks for hyphens' }),
  }),
  present: ({ content, format, slug, title }: PageRow) => ({
    ...(content !== undefined && { content, encoding: 'UTF-8' }),
    format,
    slug,
    title,
  }),
})

export type StoredAttachment = {
  readonly name: string
  readonly path: string
  readonly branch: string
  readonly isImage: boolean
}

export const WikiAttachment = entity({
  name: 'WikiAttachment',
  schema: Type.Object({
    file_name: Type.String({ description: 'Name of the stored file' }),
    file_path: Type.String({ description: 'Path of the file in the repository of the wiki' }),
    branch: Type.String({ description: 'Branch to which the file was committed' }),
    link: Type.Object(
      {
        url: Type.String({ description: 'Link to the file from a page in the root of the wiki' }),
        markdown: Type.String({ description: 'Markdown link; images and videos are embedded' }),
      },
      { title: 'WikiAttachmentLink', description: 'Links for pages' },
    ),
  }),
  present: ({ name, path, branch, isImage }: StoredAttachment) => ({
    file_name: name,
    file_path: path,
    branch,
    link: { url: path, markdown: `${isImage ? '!' : ''}[${name}](${path})` },
  }),
})
