import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { shownPath } from '../../../git/text.ts'
import type { FoundLines } from '../../../git/text-search.ts'

/** Lines of a file, as they are at a ref of a project. */
export type FoundBlobRow = FoundLines & { readonly ref: string; readonly projectId: number }

export const FoundBlob = entity({
  name: 'FoundBlob',
  schema: Type.Object({
    basename: Type.String({ description: 'The path without its extension' }),
    data: Type.String({ description: 'The lines that were found, and two around each' }),
    path: Type.String({ description: 'From the root of the repository' }),
    filename: Type.String({ description: 'The same as path' }),
    id: nullable(Type.Integer({ description: 'Always null: a file has no number' })),
    ref: Type.String({ description: 'Branch, tag or commit that was searched' }),
    startline: Type.Integer({ description: 'Number of the first line of `data`, from 1' }),
    project_id: Type.Integer(),
  }),
  present({ path, text, ref, firstLine, projectId }: FoundBlobRow) {
    const shown = shownPath(path)
    return {
      basename: shown.replace(/(?<=[^/])\.[^./]*$/, ''),
      data: text,
      path: shown,
      filename: shown,
      id: null,
      ref,
      startline: firstLine,
      project_id: projectId,
    }
  },
})
