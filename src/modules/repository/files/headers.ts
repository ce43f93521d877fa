import type { Reply } from '../../../api/endpoint.ts'
import type { FileRow } from './entity.ts'

const described = {
  'Blob-Id': 'Id of the content',
  'Commit-Id': 'Id of the commit that `ref` names',
  'Content-Sha256': 'SHA-256 of the content',
  Encoding: 'Always base64',
  'File-Name': 'Last part of the path',
  'File-Path': 'Full path',
  'Last-Commit-Id': 'Id of the last commit that changed the file',
  Ref: 'As asked for',
  Size: 'Bytes',
  'Execute-Filemode': 'Whether the file is executable',
}

/** Headers of `setMetadata`, for the documentation. */
export const metadataHeaders: Readonly<Record<string, string>> = Object.fromEntries(
  ['X-Service-', 'X-Gitlab-'].flatMap((prefix) =>
    Object.entries(described).map(([name, meaning]) => [prefix + name, meaning]),
  ),
)

/**
 * Sets the headers of a file on every response, which HEAD requests are for. Compat: no client reads `X-Service-*`, the
 * names in the API documents; go-gitlab and gitlab4j read `X-Gitlab-*`.
 */
export function setMetadata(reply: Reply, file: Omit<FileRow, 'content'>): void {
  const values: Record<keyof typeof described, string> = {
    'Blob-Id': file.blob,
    'Commit-Id': file.commit,
    'Content-Sha256': file.sha256,
    Encoding: 'base64',
    'File-Name': headerText(file.name),
    'File-Path': headerText(file.path),
    'Last-Commit-Id': file.lastCommit,
    Ref: headerText(file.ref),
    Size: String(file.sizeBytes),
    'Execute-Filemode': String(file.executable),
  }
  for (const [field, service, alias] of names) {
    reply.header(service, values[field])
    reply.header(alias, values[field])
  }
}

const names = (Object.keys(described) as (keyof typeof described)[]).map(
  (field) => [field, `x-service-${field.toLowerCase()}`, `x-gitlab-${field.toLowerCase()}`] as const,
)

/**
 * Text of a header: UTF-8 byte by byte, as clients decode it. Control characters are not allowed in headers and are
 * escaped.
 */
export const headerText = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text
    : Buffer.from(text, 'utf8')
        .toString('latin1')
        .replaceAll(
          /[\x00-\x1f\x7f]/g,
          (control) => `%${control.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
        )
