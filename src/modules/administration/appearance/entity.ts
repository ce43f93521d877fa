import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { AppearanceRow, AppearanceTexts, PictureName } from './queries.ts'

const defaults: AppearanceTexts = {
  title: '',
  description: '',
  new_project_guidelines: '',
  header_message: '',
  footer_message: '',
  message_background_color: '#e75e40',
  message_font_color: '#ffffff',
  email_header_and_footer_enabled: false,
}

const path = (row: AppearanceRow, name: PictureName): string | null =>
  row[name] === null ? null : `/uploads/-/system/appearance/${name}/1/${row[name]}`

export const Appearance = entity({
  name: 'Appearance',
  schema: Type.Object({
    title: Type.String(),
    description: Type.String({ description: 'Markdown' }),
    logo: nullable(Type.String({ description: 'URL of the image' })),
    header_logo: nullable(Type.String({ description: 'URL of the image' })),
    favicon: nullable(Type.String({ description: 'URL of the image' })),
    new_project_guidelines: Type.String({ description: 'Markdown' }),
    header_message: Type.String(),
    footer_message: Type.String(),
    message_background_color: Type.String(),
    message_font_color: Type.String(),
    email_header_and_footer_enabled: Type.Boolean({ description: 'Mails have these messages, too' }),
  }),
  present: (row: AppearanceRow) => ({
    ...defaults,
    ...row.texts,
    logo: path(row, 'logo'),
    header_logo: path(row, 'header_logo'),
    favicon: path(row, 'favicon'),
  }),
})
