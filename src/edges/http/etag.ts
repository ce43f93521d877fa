/** An entity tag without its mark and its quotes, which some registry clients leave out. */
const opaque = (etag: string): string =>
  etag
    .trim()
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')

/** Whether `If-None-Match` names this entity tag or every one: the client has what it would get. */
export const hasEtag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((each) => each.trim() === '*' || opaque(each) === opaque(etag)) === true
