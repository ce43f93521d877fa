import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { PathEntry } from '../../../git/objects/trees.ts'

/** Entries of a directory. */
export const TreeEntry = entity({
  name: 'TreeEntry',
  schema: Type.Object({
    id: Type.String({ description: 'Hash of the tree, blob or submodule commit' }),
    name: Type.String({ description: 'Last segment of the path' }),
    type: Type.String({
      enum: ['tree', 'blob', 'commit'],
      description: 'Kind of the entry: directory, file or submodule',
    }),
    path: Type.String({ description: 'Path from the repository root' }),
    mode: Type.String({ description: 'Six octal digits' }),
  }),
  present: (entry: PathEntry) => ({
    id: entry.oid,
    name: shownPath(entry.name),
    type: entry.type,
    path: shownPath(entry.path),
    mode: entry.mode,
  }),
})

export type BlobRow = { readonly oid: string; readonly sizeBytes: number; readonly content: Buffer }

/** The content of a file, whatever its name. */
export const Blob = entity({
  name: 'Blob',
  schema: Type.Object({
    size: Type.Integer({ description: 'Size in bytes' }),
    encoding: Type.String({ enum: ['base64'], description: 'Encoding of `content`' }),
    content: Type.String({ description: 'Base64 without line breaks' }),
    sha: Type.String({ description: 'Hash of the content as git computes it' }),
  }),
  present: (row: BlobRow) => ({
    size: row.sizeBytes,
    encoding: 'base64',
    content: row.content.toString('base64'),
    sha: row.oid,
  }),
})
