/**
 * Name of a downloaded archive: the time, and the path with `_` instead of slashes, together at most 51 characters. Source: supplement
 * to the API documents, 14.1.
 */
export function archiveName(fullPath: string, at: Date): string {
  const time = at.toISOString().replace(/[:.]/g, '-').replace('T', '_').replace('Z', '')
  return `${`${time}_${fullPath.replaceAll('/', '_')}`.slice(0, 51)}_export.tar.gz`
}
