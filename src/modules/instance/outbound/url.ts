/** Schemes and ports allowed for a kind of request. */
export type UrlRules = {
  /** Without the colon. */
  readonly schemes: readonly string[]
  /** Allowed ports below 1024; all if absent. */
  readonly lowPorts?: readonly number[]
}

const defaultPorts: Readonly<Record<string, number>> = { http: 80, https: 443, git: 9418 }

/** A well-formed URL of an allowed scheme and port. Its host is not resolved yet. */
export type OutboundUrl = {
  readonly url: URL
  readonly scheme: string
  /** A name, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/** Parses a URL that a user entered, or returns an error message. Pure. */
export function readUrl(text: string, { schemes, lowPorts }: UrlRules): OutboundUrl | { readonly blocked: string } {
  if (/[\r\n\t\0]/.test(text)) return { blocked: 'URI is invalid' }
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { blocked: 'URI is invalid' }
  if (!schemes.includes(scheme)) return { blocked: `Only allowed schemes are ${schemes.join(', ')}` }
  // The URL standard has host rules for web schemes only, so other schemes are parsed as http: `http://0x7f.1` is
  // 127.0.0.1.
  const web = URL.parse(scheme === 'git' ? text.replace(/^git:/i, 'http:') : text)
  const url = URL.parse(text)
  if (!url || !web || web.hostname === '' || !/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return { blocked: 'URI is invalid' }
  const host = web.hostname.replace(/^\[(.*)\]$/, '$1')
  if (!/^[\p{L}\p{N}]/u.test(host) && !host.includes(':')) return { blocked: 'Hostname or IP address invalid' }
  const port = url.port === '' ? defaultPorts[scheme]! : Number(url.port)
  if (lowPorts && port < 1024 && !lowPorts.includes(port))
    return { blocked: `Only allowed ports are ${lowPorts.join(', ')}, and any over 1024` }
  const username = decoded(url.username)
  if (username === undefined || decoded(url.password) === undefined) return { blocked: 'URI is invalid' }
  if (username !== '' && !/^[\p{L}\p{N}]/u.test(username))
    return { blocked: 'Username needs to start with an alphanumeric character' }
  return { url, scheme, host, port }
}

/** User name and password in a URL, percent-decoded. */
export const credentialsOf = ({ username, password }: URL): { username: string; password: string } | undefined =>
  username === '' && password === ''
    ? undefined
    : { username: decoded(username) ?? '', password: decoded(password) ?? '' }

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text)
    // These characters would end a header line.
    return /[\r\n\0]/.test(plain) ? undefined : plain
  } catch {
    return undefined
  }
}
