import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { FoundLines } from '../../../git/objects/text-search.ts'

/** Lines of a file, as they are at a ref of a project. */
export type FoundBlobRow = FoundLines & { readonly ref: string; readonly projectId: number }

export const FoundBlob = entity({
  name: 'FoundBlob',
  schema: Type.Object({
    basename: Type.String({ description: 'Path without extension' }),
    data: Type.String({ description: 'Matching lines with two lines of context' }),
    path: Type.String({ description: 'Path from the repository root' }),
    filename: Type.String({ description: 'Same as `path`' }),
    id: nullable(Type.Integer({ description: 'Always null; files have no ID' })),
    ref: Type.String({ description: 'Branch, tag or commit searched' }),
    startline: Type.Integer({ description: 'First line number of `data`, from 1' }),
    project_id: Type.Integer({ description: 'ID of the project' }),
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
