import { randomBytes } from 'node:crypto'
import { scopes } from '../../../access/scopes.ts'
import { openDatabase } from '../../../db/database.ts'
import { plainUser } from '../users/new-user.ts'
import { digestPassword } from '../users/password.ts'
import { anyUser } from '../users/queries.ts'
import { addUser } from '../users/service.ts'
import { createToken } from './service.ts'

export type RootCredentials = { username: string; password: string; token: string }

/**
 * Creates the first administrator, `root`, with a token of all scopes. `undefined` if there is a user already.
 * Passwords and tokens that the configuration does not set are random.
 */
export async function bootstrap(
  config: { readonly root: { readonly password?: string; readonly token?: string } },
  databaseUrl: string,
): Promise<RootCredentials | undefined> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  const password = config.root.password ?? randomBytes(15).toString('base64url')
  return await db.transaction(async (tx) => {
    if (await anyUser(tx)) return undefined
    const userId = await addUser(tx, {
      ...plainUser,
      username: 'root',
      name: 'Administrator',
      email: 'admin@example.com',
      passwordDigest: await digestPassword(password),
      admin: true,
    })
    const { token } = await createToken(tx, {
      kind: 'personal',
      userId,
      name: 'root',
      scopes,
      expiresAt: null,
      ...(config.root.token !== undefined && { secret: config.root.token }),
    })
    return { username: 'root', password, token }
  })
}
