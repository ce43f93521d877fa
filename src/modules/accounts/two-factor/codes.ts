import { hash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** Seconds that a code is for, and steps by which a clock may be off either way (RFC 6238). */
const period = 30
const drift = 1

/** 160 bits, as RFC 4226 recommends, in base32 for people and applications. */
export const newSecret = (): string => new Secret({ size: 20 }).base32

const totp = (secret: string, issuer?: string, label?: string): TOTP =>
  new TOTP({
    secret: Secret.fromBase32(secret),
    period,
    ...(issuer !== undefined && { issuer }),
    ...(label !== undefined && { label }),
  })

/** What an application scans: `otpauth://totp/…`. */
export const keyUri = (secret: string, issuer: string, label: string): string => totp(secret, issuer, label).toString()

/** The time step that a code of six digits is for; `undefined` when it is not one of now. */
export function stepOf(secret: string, code: string, atMs: number = Date.now()): number | undefined {
  const delta = totp(secret).validate({ token: code, timestamp: atMs, window: drift })
  return delta === null ? undefined : Math.floor(atMs / 1000 / period) + delta
}

/** The last time step of which a code is taken now. */
export const latestStep = (): number => Math.floor(Date.now() / 1000 / period) + drift

const recoveryCodeCount = 10

/** Codes for whoever lost the device: 80 bits each, so that a plain digest of them tells nobody anything. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => randomBytes(10).toString('hex'))

export const recoveryDigest = (code: string): Buffer => hash('sha256', code.trim().toLowerCase(), 'buffer')
