import { fileURLToPath } from 'node:url'
import { withoutEnds, withoutTrailing } from '../kernel/without-ends.ts'

/** A store of the S3 protocol, as its URL describes it. Credentials come from the standard places of the AWS SDK. */
export type S3Address = {
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Absent: that of AWS. */
  readonly endpoint: string | undefined
  /** Absent: from the environment or the profile. */
  readonly region: string | undefined
  /** The bucket is in the path of the URLs, not in their host name. */
  readonly pathStyle: boolean
  /** The profile in the files of the AWS SDK that has the credentials. */
  readonly profile: string | undefined
}

const parameters = ['endpoint', 'region', 'path_style', 'profile']

/** Parses `s3://bucket/prefix?endpoint=…&region=…&path_style=on`; what is wrong with it as the rest of a sentence, in a list. */
export function parseS3Url(text: string): S3Address | [mistake: string] {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 's3:') return ['must be a URL like s3://bucket/prefix']
  if (url.username || url.password)
    return ['must contain no credentials: the AWS SDK reads them, for example from AWS_ACCESS_KEY_ID']
  // Names in host names and in paths; dots would break the certificates of host names.
  if (!/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(url.host)) return ['must name a bucket: s3://bucket/prefix']
  if (url.hash) return ['must have no fragment']
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined) return [`has the unknown parameter "${unknown}", and knows ${parameters.join(', ')}`]
  const read = (name: string) => url.searchParams.get(name)?.trim() || undefined
  const prefix = withoutEnds(url.pathname, '/')
  if (!/^[\w!.*'()/-]*$/.test(prefix)) return ["must have a prefix of letters, digits and -_.!*'()/"]
  const endpoint = read('endpoint')
  if (endpoint !== undefined && !isEndpoint(endpoint))
    return ['must have an endpoint like https://s3.example.com:9000, without a path']
  const style = read('path_style') ?? (endpoint === undefined ? 'off' : 'on')
  if (style !== 'on' && style !== 'off') return ['must have path_style=on or path_style=off']
  return {
    ...{ bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/`, endpoint, region: read('region') },
    ...{ pathStyle: style === 'on', profile: read('profile') },
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false
  return url.username === '' && url.password === '' && url.pathname === '/' && url.search === '' && url.hash === ''
}

/** The address of a URL that the settings have accepted. */
export function s3Address(url: string): S3Address {
  const address = parseS3Url(url)
  if (Array.isArray(address)) throw new Error(`the blob URL ${address[0]}`)
  return address
}

/** Whether blobs of this URL are in object storage. */
export const isS3 = (url: string): boolean => url.startsWith('s3:')

/** Name of the store at a URL: equal for URLs that reach the same blobs by another endpoint or with other credentials. */
export function storeName(url: string): string {
  if (!isS3(url)) return withoutTrailing(fileURLToPath(url), '/') || '/'
  const { bucket, prefix } = s3Address(url)
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '')
}

export const isSameStore = (one: string, other: string): boolean => storeName(one) === storeName(other)

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether clients of the site can be expected to reach the link without losing the protection of https. */
export const canFollow = (site: URL, link: URL): boolean =>
  (site.protocol === 'http:' || link.protocol === 'https:') && (isLoopback(site) || !isLoopback(link))
