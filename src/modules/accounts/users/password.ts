import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

/** Argon2id with the library's parameters: about 12 ms on its own thread. */
export const digestPassword = (password: string): Promise<string> => hash(password)

const decoy = digestPassword(randomBytes(16).toString('hex'))

/** Takes the same time whether or not there is a digest to compare with. */
export async function isPassword(digest: string | null, password: string): Promise<boolean> {
  const matches = await verify(digest ?? (await decoy), password)
  return matches && digest !== null
}
