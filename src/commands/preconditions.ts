import { type Config, repositoriesDir, secretsFile } from '../config.ts'
import type { Db } from '../db/db.ts'
import { refuseNewerSchema, refuseOlderSchema } from '../db/migrate.ts'
import { keysOfSecrets } from '../db/sealed.ts'
import { Failure } from '../kernel/failure.ts'
import { isThere } from '../kernel/missing.ts'

export const folderOf = (config: Config) => ({ dataDir: config.dataDir, repositoriesDir: repositoriesDir(config) })

/** Fails with one sentence unless the database has the schema of this version. */
export async function requireSchema(databaseUrl: string): Promise<void> {
  await refuseNewerSchema(databaseUrl)
  await refuseOlderSchema(databaseUrl)
}

/** Fails if the file of keys is missing that decrypts secrets in the database: a new file would not help them. */
export async function requireKeys(config: Config, db: Db): Promise<void> {
  const file = secretsFile(config)
  if (isThere(file)) return
  const columns = [...(await keysOfSecrets(db)).values()].flat()
  if (columns.length > 0)
    throw new Failure(
      'conflict',
      `${file} is missing, which decrypts secrets in the database (${[...new Set(columns)].join(', ')}): restore it from a backup. ` +
        'If it is lost, so are these secrets: "stithy adopt" makes another one.',
    )
}
