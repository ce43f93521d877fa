import { readFile } from 'node:fs/promises'
import { WrongSetting } from '../../kernel/wrong-setting.ts'

const minSecretLength = 32

/** What encrypts backups, from a file. */
export async function readSecret(file: string): Promise<Buffer> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new WrongSetting(`Cannot read the key of the backups (STITHY_BACKUP_KEY_FILE): ${cause.message}.`, { cause })
  })
  const secret = text.trim()
  if (secret.length < minSecretLength)
    throw new WrongSetting(
      `The key in ${file} must have at least ${minSecretLength} characters, for example from: openssl rand -hex 32`,
    )
  return Buffer.from(secret)
}
