import { type Config, secretsFile } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import type { Db } from '../db/db.ts'
import { columnsContaining } from '../db/reseal.ts'
import { keysOfSecrets } from '../db/sealed.ts'
import { Failure } from '../kernel/failure.ts'
import { beginRotation, endRotation, openSecrets } from '../kernel/secrets.ts'
import { resealTwoFactors } from '../modules/accounts/index.ts'
import { resealSettings } from '../modules/administration/index.ts'
import { resealVariables } from '../modules/groups/index.ts'
import { resealAnswers } from '../modules/instance/index.ts'
import { resealHooks } from '../modules/integrations/index.ts'
import { resealImports, resealPullMirrors, resealPushMirrors } from '../modules/lifecycle/index.ts'
import { resealDownloads, resealForgeTokens, resealUploads } from '../modules/portability/index.ts'
import { requirePair } from '../modules/projects/index.ts'
import { deleteSigningKeys } from '../modules/pushes/index.ts'
import { folderOf, requireKeys, requireSchema } from './preconditions.ts'

/** The columns of the database with secrets that no key of the data folder decrypts, as `table.column`. */
export async function findUnreadable(config: Config, databaseUrl: string): Promise<string[]> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  return await unreadableIn(config, db)
}

export async function unreadableIn(config: Config, db: Db): Promise<string[]> {
  const used = await keysOfSecrets(db)
  if (used.size === 0) return []
  const secrets = openSecrets(secretsFile(config))
  return [...new Set([...used].flatMap(([id, columns]) => (secrets.hasKey(id) ? [] : columns)))].sort()
}

/** Every function that encrypts the secrets of a module with the current key. */
const reseals = [
  resealAnswers,
  resealSettings,
  resealTwoFactors,
  resealVariables,
  resealImports,
  resealPullMirrors,
  resealPushMirrors,
  resealHooks,
  resealUploads,
  resealDownloads,
  resealForgeTokens,
]

/**
 * Replaces the key that encrypts secrets in the database. The new key is in the file before it encrypts anything, and the old one
 * until the transaction has committed that leaves nothing to it: whenever this process is killed, the service can decrypt all
 * secrets, and another call completes the rotation. Also deletes the keys that sign credentials. The caller holds the lock of the
 * data folder. Returns the number of encrypted secrets.
 */
export async function rotateSecrets(config: Config, databaseUrl: string): Promise<number> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await requirePair(db, folderOf(config))
  await requireKeys(config, db)
  const file = secretsFile(config)
  const secrets = beginRotation(file)
  const count = await db.transaction(async (tx) => {
    let replaced = 0
    for (const reseal of reseals) replaced += await reseal(tx, secrets)
    await deleteSigningKeys(tx)
    const left = await columnsContaining(tx, secrets.stalePrefixes)
    if (left.length > 0)
      throw new Failure('conflict', `The old key is still in use in ${left.join(', ')}, so nothing was changed.`)
    return replaced
  })
  endRotation(file)
  return count
}
