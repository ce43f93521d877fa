import type { Config } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { notFound } from '../kernel/failure.ts'
import {
  createTokenAs,
  findUserByName,
  operatorActions,
  peopleInBatches,
  tokenExpiry,
  tokenScopes,
} from '../modules/accounts/index.ts'
import type { Services, TokenRequest, UserAction } from '../processes/app-module.ts'
import { openApp } from './open-app.ts'
import { requireSchema } from './preconditions.ts'

/** Creates an access token for a user. Returns the token; only its digest is stored. */
export async function createToken(
  config: Config,
  services: Services,
  { username, scopes, name, expiresOn }: TokenRequest,
): Promise<string> {
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const user = await findUserByName(ctx.db, username)
  if (!user) throw notFound(`User ${username}`)
  const { token } = await createTokenAs(ctx, {
    kind: 'personal',
    userId: user.id,
    name,
    scopes: tokenScopes(scopes, user.admin),
    expiresAt: tokenExpiry(ctx, expiresOn ?? null),
  })
  return token
}

/** Prints one line for each user, under a heading. */
export async function listUsers(databaseUrl: string, print: (line: string) => void): Promise<void> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  print(['id', 'username', 'email', 'state', 'role', 'last activity'].join('\t'))
  for await (const people of peopleInBatches(db))
    for (const { id, username, email, state, admin, last_activity_on: active } of people)
      print([id, username, email, state, admin ? 'administrator' : 'user', active ?? 'never'].join('\t'))
}

/** Does what an operator asks with the account of a person. Returns what was done, as lines of text. */
export async function changeUser(
  config: Config,
  services: Services,
  username: string,
  action: UserAction,
): Promise<readonly string[]> {
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const user = await findUserByName(ctx.db, username)
  if (user?.kind !== 'human') throw notFound(`User ${username}`)
  // Awaited here, because the app is disposed when this function ends.
  return await operatorActions[action](ctx, user)
}
