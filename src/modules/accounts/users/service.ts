import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { conflict, type FieldViolations, invalidFields } from '../../../kernel/failure.ts'
import { isMailAddress } from '../../../kernel/mail-address.ts'
import {
  blank,
  boundViolations,
  lengthViolations,
  requiredTextViolations,
  tooLong,
  violationsOf,
} from '../../../kernel/violations.ts'
import {
  type Avatar,
  insertUserNamespace,
  namespacePathViolations,
  namespacePlaced,
  saveAvatar,
} from '../../namespaces/index.ts'
import { isOthersEmail } from './email-queries.ts'
import { sendLink } from './links.ts'
import { findUser, insertIdentity, insertUser, type NewUser, type UserRow } from './queries.ts'
import { signUpViolations } from './sign-up.ts'

const lengths = { name: 128, email: 255, bio: 255, provider: 255, extern_uid: 255 }

/** Maximum lengths of free texts. */
const maxLengths = {
  location: 1000,
  skype: 1000,
  linkedin: 1000,
  twitter: 1000,
  website_url: 1000,
  organization: 1000,
  job_title: 1000,
  note: 65_536,
} as const
/** Bounds of the column. */
const limitBounds = { minimum: 0, maximum: 2 ** 31 - 1 }
const textNames = Object.keys(maxLengths) as (keyof typeof maxLengths)[]

export const emailViolations = (email: string): string[] =>
  email === ''
    ? [blank]
    : email.length > lengths.email
      ? [tooLong(lengths.email)]
      : isMailAddress(email)
        ? []
        : ['is invalid']

export const isEmailAddress = (text: string): boolean => emailViolations(text).length === 0

/** Errors by field of those attributes that are in `looked`. */
export const accountViolations = (
  user: Pick<NewUser, 'username' | 'name' | 'email' | 'bio' | 'projects_limit' | keyof typeof maxLengths>,
  looked: ReadonlySet<string> = new Set(['username', 'name', 'email', 'bio', 'projects_limit', ...textNames]),
): FieldViolations & Record<string, readonly string[]> => ({
  ...Object.fromEntries(
    textNames.map((name) => [name, looked.has(name) ? lengthViolations(user[name] ?? '', maxLengths[name]) : []]),
  ),
  username: looked.has('username') ? namespacePathViolations(user.username, false) : [],
  name: looked.has('name') ? requiredTextViolations(user.name, lengths.name) : [],
  email: looked.has('email') ? emailViolations(user.email) : [],
  bio: looked.has('bio') ? lengthViolations(user.bio ?? '', lengths.bio) : [],
  projects_limit: looked.has('projects_limit') ? boundViolations(user.projects_limit, limitBounds) : [],
})

/** What names an identity in a request. */
export type IdentityInput = { provider?: string | undefined; extern_uid?: string | undefined }

/**
 * The identity that a request names; `undefined` if its parameters are absent, or both empty, as forms send them. Throws `invalid`
 * if one of them is blank or too long.
 */
export function identityIn({ provider, extern_uid: externUid }: IdentityInput) {
  if (provider === undefined || externUid === undefined || (provider === '' && externUid === '')) return undefined
  const violations = violationsOf({
    provider: requiredTextViolations(provider, lengths.provider),
    extern_uid: requiredTextViolations(externUid, lengths.extern_uid),
  })
  if (violations) throw invalidFields(violations)
  return { provider, externUid }
}

/** Message of the conflict about an address. */
export const emailTaken = 'Email has already been taken'

/** Error message for a unique violation of name or address; undefined for other errors. */
export function takenText(error: unknown): string | undefined {
  const index = violatedUnique(error)
  if (index === 'users_email' || index === 'email_addresses_pkey') return emailTaken
  if (index === 'users_username') return 'Username has already been taken'
  if (index === 'identities_extern_uid') return 'Extern uid has already been taken'
  return undefined
}

function asConflict(error: unknown): never {
  const text = takenText(error)
  throw text === undefined ? error : conflict(text)
}

/**
 * Creates an account with its personal namespace in the caller's transaction. Throws `conflict` for taken names and
 * addresses.
 */
export async function addUser(
  tx: Tx,
  user: NewUser,
  identity?: { provider: string; externUid: string },
): Promise<number> {
  const id = await insertUser(tx, user).catch(asConflict)
  const namespaceId = await insertUserNamespace(tx, id, user.username, user.name)
  if (namespaceId === undefined) throw conflict('Username has already been taken')
  await namespacePlaced(tx, namespaceId)
  if (identity) await insertIdentity(tx, id, identity.provider, identity.externUid).catch(asConflict)
  // A new account cannot be cached, so no notification is needed.
  return id
}

/** Validates and creates an account. Mails a link to choose a password or to confirm the address, as needed. */
export async function createUser(
  ctx: Ctx,
  user: NewUser,
  more: {
    identity: IdentityInput
    avatar?: Avatar | undefined
    choosesPassword: boolean
  },
): Promise<UserRow> {
  const found = accountViolations(user)
  const violations = violationsOf({
    ...found,
    email: found['email']!.length > 0 ? found['email']! : signUpViolations(user.email, ctx.settings),
  })
  if (violations) throw invalidFields(violations)
  const identity = identityIn(more.identity)
  const id = await ctx.transaction(async (tx) => {
    // Compat: of two conflicts the reference product names that of the address.
    if (await isOthersEmail(tx, null, user.email)) throw conflict(emailTaken)
    const userId = await addUser(tx, user, identity)
    // It waits for others that take the name or address.
    await tx.requirePermission?.()
    if (more.avatar) await saveAvatar(tx, 'user', userId, more.avatar)
    const addressee = { ...user, id: userId }
    if (more.choosesPassword) await sendLink(tx, ctx, 'welcome', addressee, user.email)
    else if (!user.confirmed && ctx.settings.send_user_confirmation_email)
      await sendLink(tx, ctx, 'confirmation', addressee, user.email)
    await emit(tx, {
      kind: 'user_created',
      actorId: ctx.actor!.id,
      payload: { user_id: userId, confirmed: user.confirmed },
      facts: { username: user.username, name: user.name, email: user.email },
    })
    return userId
  })
  return (await findUser(ctx.db, id))!
}
