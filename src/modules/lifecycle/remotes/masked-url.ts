const mask = '*****'

/** A URL for display: with asterisks for user name, password and query. */
export function maskedUrl(url: URL): string {
  const user = url.username === '' && url.password === '' ? '' : `${mask}:${mask}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search === '' ? '' : `?${mask}`}`
}
