import { generateKey } from 'openpgp'

/** A new public key block with these addresses. */
export const newGpgKey = async (...emails: string[]): Promise<string> =>
  (await generateKey({ userIDs: emails.map((email) => ({ name: 'Ann', email })), format: 'armored' })).publicKey.trim()
