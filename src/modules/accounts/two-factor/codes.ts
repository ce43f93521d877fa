import { hash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** Seconds per code, and steps that a clock may deviate either way (RFC 6238). */
const period = 30
const drift = 1

/** 160 bits, as RFC 4226 recommends, in base32. */
export const newSecret = (): string => new Secret({ size: 20 }).base32

const totp = (secret: string, issuer?: string, label?: string): TOTP =>
  new TOTP({
    secret: Secret.fromBase32(secret),
    period,
    ...(issuer !== undefined && { issuer }),
    ...(label !== undefined && { label }),
  })

/** URI for the QR code of an authenticator application: `otpauth://totp/…`. */
export const keyUri = (secret: string, issuer: string, label: string): string => totp(secret, issuer, label).toString()

/** The time step of a six-digit code; `undefined` if it is not currently valid. */
export function stepOf(secret: string, code: string, atMs: number = Date.now()): number | undefined {
  const delta = totp(secret).validate({ token: code, timestamp: atMs, window: drift })
  return delta === null ? undefined : Math.floor(atMs / 1000 / period) + delta
}

/** The latest time step whose code is currently accepted. */
export const latestStep = (): number => Math.floor(Date.now() / 1000 / period) + drift

const recoveryCodeCount = 10

/** Codes for users who lost their device: 80 bits each, so that their plain digests cannot be brute-forced. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodeCount }, () => randomBytes(10).toString('hex'))

export const recoveryDigest = (code: string): Buffer => hash('sha256', code.trim().toLowerCase(), 'buffer')
