import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { Template } from './kinds.ts'
import { factsOf, filledIn, type Licensee } from './licenses.ts'

export const TemplateName = entity({
  name: 'TemplateName',
  schema: Type.Object({
    key: Type.String({ description: 'Key to look it up' }),
    name: Type.String({ description: 'Name of the template' }),
  }),
  present: ({ key }: Template) => ({ key, name: key }),
})

export const FileTemplate = entity({
  name: 'FileTemplate',
  schema: Type.Object({
    name: Type.String({ description: 'Name of the template' }),
    content: Type.String({ description: 'Text of the template' }),
  }),
  async gather([template]: readonly Template[]) {
    return template!.read()
  },
  present: ({ key }: Template, _ctx, content) => ({ name: key, content }),
})

/** A licence with its placeholders. */
export type LicenseRow = { readonly template: Template; readonly licensee: Licensee }

export const LicenseTemplate = entity({
  name: 'LicenseTemplate',
  schema: Type.Object({
    key: Type.String({ description: 'Key of the license, such as `mit`' }),
    name: Type.String({ description: 'Name of the license' }),
    nickname: nullable(Type.String(), { description: 'Short name; null if there is none' }),
    popular: Type.Boolean({ description: 'True for popular licenses' }),
    html_url: nullable(Type.String({ description: 'URL of a page about it' })),
    source_url: nullable(Type.String({ description: 'URL of its source' })),
    content: Type.String({ description: 'Content with year, name and project filled in' }),
  }),
  async gather(rows: readonly LicenseRow[]) {
    const texts = await Promise.all(rows.map(({ template }) => template.read()))
    return new Map(rows.map((row, index) => [row, texts[index]!]))
  },
  present: (row: LicenseRow, _ctx, texts) => ({
    ...factsOf(row.template),
    content: filledIn(texts.get(row)!, row.licensee, new Date()),
  }),
})
