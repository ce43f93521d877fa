import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { expressionViolation } from '../../kernel/expression.ts'
import { isMailAddress } from '../../kernel/mail-address.ts'
import { blank, urlViolations } from '../../kernel/violations.ts'
import { dayInSeconds, readDuration } from './durations.ts'
import type { Chosen, Rule } from './schema.ts'

/** Creates a rule from a predicate and its message. */
const rule =
  <T>(holds: (value: T, all: Chosen) => boolean, violation: string): Rule<T> =>
  (value, all) =>
    holds(value, all) ? [] : [violation]

/** At least the value of another setting, unless that is 0 or not set. */
export const notLessThan =
  (other: string): Rule<number> =>
  (value, all) =>
    value >= Number(all[other]) ? [] : [`must be greater than or equal to ${all[other]}`]

export const notMoreThan =
  (other: string): Rule<number> =>
  (value, all) =>
    value <= Number(all[other]) ? [] : [`must be less than or equal to ${all[other]}`]

/** An http or https URL. */
export const webAddress: Rule<string> = (value) => urlViolations(value)

export const emailAddress = rule<string>(isMailAddress, 'is invalid')

export const withoutAt = rule<string>((value) => /^[^@\s]+$/.test(value), 'is invalid')

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const hostName = new RegExp(`^(${label}\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`, 'i')
export const domainName = rule<string>((value) => hostName.test(value), 'is not a fully qualified domain name')

export const duration = rule<string>((value) => readDuration(value) !== undefined, 'is not a correct duration')

export const atLeastADay: Rule<string> = (value) => {
  const seconds = readDuration(value)
  if (seconds === undefined) return ['is not a correct duration']
  return seconds >= dayInSeconds ? [] : ['must be at least 1 day.']
}

/** Key restriction: forbidden (-1), any (0) or a minimum number of bits. */
export const keySizes = (sizes: readonly number[]): Rule<number> =>
  rule((value) => value === 0 || value === -1 || sizes.includes(value), sizesText(sizes))

const sizesText = (sizes: readonly number[]): string =>
  sizes.length === 1
    ? `must be forbidden, allowed, or ${sizes[0]}`
    : `must be forbidden, allowed, or one of these sizes: ${sizes.join(', ')}`

/** A regular expression in RE2 syntax, which matches in linear time. */
export const expression: Rule<string> = (value) => {
  const violation = expressionViolation(value)
  return violation === undefined ? [] : [violation]
}

/** Each entry is a host name (with `*` as wildcard), an address or a range of addresses. */
export const shortEntries: Rule<readonly string[]> = (value) => [
  ...(value.length > 1000 ? ['is too long (maximum is 1000 entries)'] : []),
  ...(value.some((entry) => entry.length > 255) ? ['is too long (maximum is 255 characters an entry)'] : []),
]

/** Addresses and ranges of addresses, separated by commas. */
export const addressList: Rule<string> = (value) =>
  value.split(',').every((entry) => isRange(entry.trim()))
    ? []
    : ['IP whitelist contains invalid IP addresses or ranges']

function isRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export const notEmptyWhen = (flag: string, violation: string): Rule<readonly unknown[]> =>
  rule((value, all) => all[flag] !== true || value.length > 0, violation)

/** A multiple of 0.001. */
export const thousandths = rule<number>(
  (value) => Number.isInteger(Number((value * 1000).toFixed(6))),
  'must be a multiple of 0.001',
)

export const present = rule<readonly unknown[]>((value) => value.length > 0, blank)

export const certificate: Rule<string> = (value) => (readCertificate(value) ? [] : ['is not a valid X509 certificate.'])

/** The private key of `external_auth_client_cert`. */
export const keyOfCertificate: Rule<string> = (value, all) => {
  const key = readKey(value, all['external_auth_client_key_pass'])
  if (!key) return ['could not read private key, is the passphrase correct?']
  const held = all['external_auth_client_cert']
  const shown = typeof held === 'string' ? readCertificate(held) : undefined
  return shown && !shown.checkPrivateKey(key) ? ['private key does not match certificate.'] : []
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function readKey(pem: string, passphrase: unknown): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase: typeof passphrase === 'string' ? passphrase : '' })
  } catch {
    return undefined
  }
}
