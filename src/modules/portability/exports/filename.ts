/**
 * Name of a downloaded archive: day, hour, minute and milliseconds, and the path with `_` instead of slashes, together at most 51
 * characters. Source: supplement to the API documents, 14.1.
 */
export function archiveName(fullPath: string, at: Date): string {
  const time = at.toISOString().replace(/T(\d\d):(\d\d):\d\d\.(\d{3})Z/, '_$1-$2-$3')
  return `${`${time}_${fullPath.replaceAll('/', '_')}`.slice(0, 51)}_export.tar.gz`
}
