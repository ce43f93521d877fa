import type { Ctx } from '../../api/ctx.ts'
import type { Tx } from '../../db/db.ts'
import { notify } from '../../db/notifications.ts'
import { violatedUnique } from '../../db/violations.ts'
import { enqueue } from '../../jobs/job.ts'
import { conflict, type FieldComplaints, invalidFields } from '../../kernel/failure.ts'
import { namespacePlaced } from '../access-index/service.ts'
import { saveAvatar } from '../avatars/queries.ts'
import type { Avatar } from '../avatars/service.ts'
import { blank, complaintsOf, namespacePathComplaints, tooLong } from '../namespaces/names.ts'
import { insertUserNamespace } from '../namespaces/queries.ts'
import { addressConfirmed } from './address-confirmed.ts'
import { findUser, insertIdentity, insertUser, type NewUser, type UserRow } from './queries.ts'

const emailShape = /^[^@\s]+@[^@\s]+$/

const lengths = { name: 128, email: 255, bio: 255 }

export const isEmailAddress = (text: string): boolean => text.length <= lengths.email && emailShape.test(text)

/** Complaints about the attributes of an account, by field. */
export function accountComplaints(user: {
  username: string
  name: string
  email: string
  bio: string | null
}): FieldComplaints | undefined {
  return complaintsOf({
    username: namespacePathComplaints(user.username, false),
    name: user.name.trim() === '' ? [blank] : user.name.length > lengths.name ? [tooLong(lengths.name)] : [],
    email:
      user.email === ''
        ? [blank]
        : user.email.length > lengths.email
          ? [tooLong(lengths.email)]
          : isEmailAddress(user.email)
            ? []
            : ['is invalid'],
    bio: (user.bio?.length ?? 0) > lengths.bio ? [tooLong(lengths.bio)] : [],
  })
}

const longestPassword = 128

export function passwordComplaints(password: string, minimum: number): string[] {
  if (password === '') return [blank]
  if (password.length < minimum) return [`is too short (minimum is ${minimum} characters)`]
  return password.length > longestPassword ? [tooLong(longestPassword)] : []
}

/** An account with its personal namespace, in the caller's transaction. Taken names and addresses are a conflict. */
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
  await notify(tx, 'actors')
  return id
}

function asConflict(error: unknown): never {
  const index = violatedUnique(error)
  if (index === 'users_email') throw conflict('Email has already been taken')
  if (index === 'users_username') throw conflict('Username has already been taken')
  if (index === 'identities_extern_uid') throw conflict('Extern uid has already been taken')
  throw error
}

/** Checks an account and makes it. */
export async function createUser(
  ctx: Ctx,
  user: NewUser,
  identity?: { provider: string; externUid: string },
  avatar?: Avatar,
): Promise<UserRow> {
  const complaints = accountComplaints(user)
  if (complaints) throw invalidFields(complaints)
  const id = await ctx.transaction(async (tx) => {
    const userId = await addUser(tx, user, identity)
    if (avatar) await saveAvatar(tx, 'user', userId, avatar)
    if (user.confirmed) await enqueue(tx, addressConfirmed, { userId })
    return userId
  })
  return (await findUser(ctx.db, id))!
}
