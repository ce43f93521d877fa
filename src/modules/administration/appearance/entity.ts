import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { type AppearanceRow, defaultTexts, type PictureName } from './queries.ts'

const path = (row: AppearanceRow, name: PictureName): string | null =>
  row[name] === null ? null : `/uploads/-/system/appearance/${name}/1/${row[name]}`

export const Appearance = entity({
  name: 'Appearance',
  schema: Type.Object({
    title: Type.String({ description: 'Title of the sign-in page; empty by default' }),
    description: Type.String({ description: 'Text of the sign-in page in Markdown' }),
    logo: nullable(Type.String({ description: 'URL of the image' })),
    header_logo: nullable(Type.String({ description: 'URL of the image' })),
    favicon: nullable(Type.String({ description: 'URL of the image' })),
    new_project_guidelines: Type.String({ description: 'Guidelines on the page for new projects, in Markdown' }),
    header_message: Type.String({ description: 'Message at the top of every page; empty for none' }),
    footer_message: Type.String({ description: 'Message at the bottom of every page; empty for none' }),
    message_background_color: Type.String({ description: 'Background color of header and footer message, `#RRGGBB`' }),
    message_font_color: Type.String({ description: 'Text color of header and footer message, `#RRGGBB`' }),
    email_header_and_footer_enabled: Type.Boolean({ description: 'Mails have these messages, too' }),
  }),
  present: (row: AppearanceRow) => ({
    ...defaultTexts,
    ...row.texts,
    logo: path(row, 'logo'),
    header_logo: path(row, 'header_logo'),
    favicon: path(row, 'favicon'),
  }),
})
