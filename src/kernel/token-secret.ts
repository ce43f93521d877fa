import { hash, randomBytes } from 'node:crypto'

/** A new token: 20 characters of `[A-Za-z0-9_-]`, 120 bits. Old clients tell tokens from OAuth ones by that length. */
export const newSecret = (): string => randomBytes(15).toString('base64url')

/** What is stored of a token. SHA-256 suffices: a token has 120 bits, so guessing is out of the question. */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')
