import { hash, randomBytes } from 'node:crypto'

/**
 * A new token: 20 characters of `[A-Za-z0-9_-]`, 120 bits. Compat: clients distinguish access tokens from OAuth tokens by that
 * length.
 */
export const newSecret = (): string => randomBytes(15).toString('base64url')

/** The stored digest of a token. SHA-256 suffices, because a token of 120 bits cannot be guessed. */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')
