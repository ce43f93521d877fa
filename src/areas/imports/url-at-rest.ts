import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Db } from '../../db/db.ts'
import { signingKey } from '../large-files/queries.ts'

/*
 * An address to import from may hold a password. It is kept only until the import ends, and encrypted (AES-256-GCM), so that
 * no dump of the table, log of statements or list of jobs shows it: 12 bytes nonce, 16 bytes tag, the text.
 */

const purpose = 'import_urls'

export async function sealUrl(db: Db, url: string): Promise<Buffer> {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', await signingKey(db, purpose), nonce)
  const text = Buffer.concat([cipher.update(url, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

export async function openUrl(db: Db, sealed: Buffer): Promise<string> {
  const decipher = createDecipheriv('aes-256-gcm', await signingKey(db, purpose), sealed.subarray(0, 12))
  decipher.setAuthTag(sealed.subarray(12, 28))
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
}
