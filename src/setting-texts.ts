import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseS3Url } from './blobs/location.ts'
import { isMailAddress } from './kernel/mail-address.ts'
import { withoutTrailing } from './kernel/without-ends.ts'

export type DatabasePlace = Readonly<{ kind: 'embedded' } | { kind: 'external'; url: string }>

/** How many days, weeks and months have a backup. */
export type KeptBackups = Readonly<{ days: number; weeks: number; months: number }>

/* Each parses the text of a setting; what is wrong with it comes back as the rest of a sentence, in a list. */

export function parseHost(text: string): string | string[] {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  return /^[\w.:%-]+$/.test(host) ? host : [`must be an address or a host name, not "${text}"`]
}

export function parseExternalUrl(text: string): string | string[] {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return [`must be an http or https URL, not "${text}"`]
  }
  if (url.username || url.password || url.search || url.hash) {
    return ['must have no user, password, query or fragment']
  }
  return withoutTrailing(url.origin + url.pathname, '/')
}

/** Clients look for the registry at the root of a host. */
export function parseRegistryUrl(text: string): string | undefined | string[] {
  if (text === 'off') return undefined
  const url = URL.parse(text)
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`
    ? url.origin
    : [`must be "off", or an http or https URL without a path, not "${text}"`]
}

/** The text may contain a password, so error messages never repeat it. */
export function parseDatabaseUrl(text: string): DatabasePlace | string[] {
  // PostgreSQL allows a URL with a user and without a host (a socket); the WHATWG parser does not.
  const url = URL.parse(text.replace('@/', '@localhost/'))
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    return ['must be a PostgreSQL URL like postgresql://user:password@host:5432/database']
  }
  return { kind: 'external', url: text }
}

/** The text may contain a password, so error messages never repeat it. */
export function parseSmtpUrl(text: string): string | string[] {
  const url = URL.parse(text)
  return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
    ? text
    : ['must be an SMTP URL like smtps://user:password@host:465']
}

export const parseSender = (text: string): string | string[] =>
  isMailAddress(/^[^<>@\p{Cc}]*<(.+)>$/u.exec(text)?.[1] ?? text)
    ? text
    : [`must be an address, or a name and an address like "Stithy <git@example.com>", not "${text}"`]

export function parseNetworks(text: string): { networks: readonly string[] } | string[] {
  const networks = text.split(',').map((each) => each.trim())
  const wrong = networks.find((each) => !isNetwork(each))
  return wrong === undefined
    ? { networks }
    : [`must be addresses and networks with commas between them, and "${wrong}" is none`]
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export function parseTimes(text: string): { times: readonly number[] } | string[] {
  const times = text.split(',').map((each) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(each.trim()))
  return times.every((time) => time !== null)
    ? {
        times: times
          .map(([, hours, minutes]) => Number(hours) * 60 + Number(minutes))
          .sort((one, other) => one - other),
      }
    : [`must be times of day in UTC, such as 02:30 or 02:30,14:30, not "${text}"`]
}

export function parseKeep(text: string): KeptBackups | string[] {
  const [, days, weeks = '0', months = '0'] = /^(\d{1,4})d(?:(\d{1,4})w)?(?:(\d{1,4})m)?$/.exec(text) ?? []
  return days === undefined
    ? [`must be numbers of days, weeks and months, such as 7d4w12m, not "${text}"`]
    : Object.freeze({ days: Number(days), weeks: Number(weeks), months: Number(months) })
}

/** The URL of a store; what is wrong with it, as the rest of a sentence, in a list. A relative path is relative to `folder`. */
export function parseBlobUrl(text: string, folder: string = process.cwd()): string | string[] {
  // One letter before a colon is a drive, not a scheme.
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return pathToFileURL(resolve(folder, text)).href
  if (scheme === 's3') {
    const address = parseS3Url(text)
    return Array.isArray(address) ? address : text
  }
  if (scheme !== 'file') return [`must be a folder, a file: URL or an s3: URL, not a ${scheme}: URL`]
  const url = URL.parse(text)
  if (url === null || url.host !== '' || url.pathname === '/') return ['must name a folder: file:///srv/stithy/blobs']
  return url.href
}
