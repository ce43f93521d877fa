import { Type } from 'typebox'
import { cacheableEntity } from '../../../api/record-view.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { FoundFile } from './service.ts'

export type FileRow = FoundFile & {
  readonly lastCommit: Oid
  readonly sha256: string
  readonly content: Buffer
}

/** A file with its content. */
export const RepositoryFile = cacheableEntity({
  name: 'RepositoryFile',
  schema: Type.Object({
    file_name: Type.String({ description: 'Last segment of the path' }),
    file_path: Type.String({ description: 'Path from the repository root' }),
    size: Type.Integer({ description: 'Size in bytes' }),
    encoding: Type.String({ enum: ['base64'], description: 'Encoding of `content`' }),
    content: Type.String({ description: 'Base64 without line breaks' }),
    content_sha256: Type.String({ description: 'SHA-256 of the content in hex' }),
    ref: Type.String({ description: 'Ref as given in the request' }),
    blob_id: Type.String({ description: 'Hash of the content as git computes it' }),
    commit_id: Type.String({ description: 'Commit that the ref resolves to' }),
    last_commit_id: Type.String({ description: 'Newest commit that changed the file' }),
    execute_filemode: Type.Boolean({ description: 'True if the file is executable' }),
  }),
  present: (row: FileRow) => ({
    file_name: row.name,
    file_path: row.path,
    size: row.sizeBytes,
    encoding: 'base64',
    content: row.content.toString('base64'),
    content_sha256: row.sha256,
    ref: row.ref,
    blob_id: row.blob,
    commit_id: row.commit,
    last_commit_id: row.lastCommit,
    execute_filemode: row.executable,
  }),
})
