import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { extensionOf } from './filename.ts'
import { shownMediaType } from './media.ts'

export type StoredUpload = { readonly secret: string; readonly filename: string; readonly project_full_path: string }

export const Upload = entity({
  name: 'Upload',
  schema: Type.Object({
    alt: Type.String({ description: 'File name; without extension for images and videos' }),
    url: Type.String({ description: 'URL relative to the project' }),
    full_path: Type.String({ description: 'Path relative to the URL of the instance' }),
    markdown: Type.String({ description: 'Markdown link; images and videos are embedded' }),
  }),
  present({ secret, filename, project_full_path }: StoredUpload) {
    const isShown = shownMediaType(filename) !== undefined
    const alt = isShown ? filename.slice(0, filename.length - extensionOf(filename).length) : filename
    const url = `/uploads/${secret}/${filename}`
    return { alt, url, full_path: `/${project_full_path}${url}`, markdown: `${isShown ? '!' : ''}[${alt}](${url})` }
  },
})

/** Compat: clients expect this form of error, for files that are too large only. */
export const NoUpload = entity({
  name: 'NoUpload',
  schema: Type.Object({}, { description: 'The file exceeds the limit; nothing is stored' }),
  present: (_row: null) => ({}),
})
