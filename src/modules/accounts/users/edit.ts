import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { conflict, Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { violationsOf } from '../../../kernel/violations.ts'
import { acceptAvatar, lockPersonalNamespace, renamePersonalNamespace, saveAvatar } from '../../namespaces/index.ts'
import { privateChoice } from './commit-email.ts'
import {
  deleteIdentity,
  isGroup,
  saveIdentity,
  type UserAttributes,
  updateUser,
  userAttributeNames,
  writePassword,
} from './edit-queries.ts'
import { dropHeldEmail, holdEmail, isOthersEmail, ownsEmail, replaceEmail } from './email-queries.ts'
import { keepAnAdministrator } from './last-administrator.ts'
import { deleteLinks } from './link-queries.ts'
import { sendLink } from './links.ts'
import { digestPassword } from './password.ts'
import { passwordViolations } from './password-rules.ts'
import { findUser, type UserRow } from './queries.ts'
import { accountViolations, emailTaken, identityIn, takenText } from './service.ts'
import { lockState } from './state-queries.ts'

const samlProvider = 'group_saml'

/** Parameters of an edit: attributes with the names of the API. */
export type UserInput = { [K in keyof UserAttributes]?: UserAttributes[K] | null } & {
  email?: string
  skip_reconfirmation: boolean
  password?: string
  reset_password?: boolean
  extern_uid?: string
  provider?: string
  group_id_for_saml?: number
  avatar?: UploadedFile | null
}

/** Attributes that become an empty text when they are removed; the others become null. */
const texts = ['public_email', 'skype', 'linkedin', 'twitter', 'website_url', 'job_title'] as const

function attributesOf(input: UserInput, held: UserRow, projectsLimit: number): Partial<UserAttributes> {
  const given = { ...input } as Partial<UserAttributes>
  for (const name of texts) if (input[name] === null) given[name] = ''
  // Empty means the address of the account, also after that changes.
  if (input.commit_email === '') given.commit_email = null
  if (input.private_profile === null) given.private_profile = false
  const external = given.external ?? held.external
  // External users can create neither projects nor groups, whatever was requested; users who stop being external get
  // the defaults of new users.
  if (external) return { ...given, can_create_group: false, projects_limit: 0 }
  return held.external ? { can_create_group: true, projects_limit: projectsLimit, ...given } : given
}

/** The attributes among parameters. */
const attributesAmong = (given: Partial<UserAttributes>): Partial<UserAttributes> =>
  Object.fromEntries(userAttributeNames.map((name) => [name, given[name]]))

/** With `reset_password`, the password is random and valid only until the user follows the link in the mail. */
async function digestOfNew(ctx: Ctx, { password, reset_password }: UserInput): Promise<string | undefined> {
  if (reset_password) return digestPassword(randomBytes(24).toString('base64url'))
  if (password === undefined) return undefined
  const violations = passwordViolations(password, ctx.settings)
  if (violations.length > 0) throw invalidFields({ password: violations })
  return digestPassword(password)
}

function asConflict(error: unknown): never {
  const text = takenText(error)
  throw text === undefined ? error : conflict(text)
}

/** Compat: whatever is wrong with an edit by an administrator has one status, that of a missing user. */
export function asRefusedEdit(error: unknown): never {
  const isRefused = error instanceof Failure && (error.kind === 'invalid' || error.kind === 'conflict')
  if (!isRefused) throw error
  const { message, fields } = error
  throw new Failure('edit_refused', message, { cause: error, ...(fields && { fields }) })
}

/**
 * Changes the given attributes. Throws `conflict` if another user has the name or address. Sends a confirmation
 * mail to a new address, unless `skip_reconfirmation`; a new password must be changed at the next sign-in, unless the
 * caller sets their own. Values as they are leave no trace.
 */
export async function editUser(ctx: Ctx, user: UserRow, input: UserInput): Promise<UserRow> {
  const passwordDigest = await digestOfNew(ctx, input)
  const avatar = await acceptAvatar(ctx, input.avatar)
  return ctx
    .transaction(async (tx) => {
      if (input.username !== undefined || input.name !== undefined) await lockPersonalNamespace(tx, user.id)
      const held = await lockPerson(tx, user.id)
      const { projects_limit = null, ...rest } = input
      const attributes = attributesOf(
        projects_limit === null ? rest : { ...rest, projects_limit },
        held,
        ctx.settings.default_projects_limit,
      )
      const next = { ...held, ...attributes, email: input.email ?? held.email }
      const hasNewEmail = input.email !== undefined && input.email !== held.email
      const looked = new Set(Object.keys(input))
      // A stored address may have a form that new ones cannot have.
      if (!hasNewEmail) looked.delete('email')
      const violations = violationsOf(accountViolations(next, looked))
      if (violations) throw invalidFields(violations)
      // Before the username, as when a user is created.
      if (hasNewEmail && (await isOthersEmail(tx, held.id, next.email))) throw conflict(emailTaken)
      const changed = changedNames(held, attributesAmong(attributes))
      if (changed.length > 0) await updateUser(tx, held.id, attributes)
      if (next.username !== held.username || next.name !== held.name) await rename(tx, held, next)
      if (hasNewEmail) await changeEmail(tx, ctx, held, input)
      // A reader of the mail to a wrong address must not take over the account once that was noticed.
      const dropsEmail = !hasNewEmail && input.email !== undefined && (await dropHeldEmail(tx, held.id)) > 0
      if (hasNewEmail || dropsEmail) changed.push('email')
      if (attributes.public_email && !(await ownsEmail(tx, held.id, attributes.public_email)))
        throw invalidFields({ public_email: ['is not an email you own'] })
      const chosen = attributes.commit_email
      if (chosen && chosen !== privateChoice && !(await ownsEmail(tx, held.id, chosen)))
        throw invalidFields({ commit_email: ['must be an email you have verified'] })
      if (passwordDigest !== undefined) {
        await deleteLinks(tx, held.id, 'password')
        const expires = held.id !== ctx.actor?.id && !input.reset_password
        await writePassword(tx, held.id, passwordDigest, expires)
        changed.push(input.reset_password ? 'reset_password' : 'password')
      }
      if (input.reset_password)
        await sendLink(tx, ctx, 'password', next, input.skip_reconfirmation ? next.email : held.email)
      if (await changeIdentity(tx, held.id, input)) changed.push('provider')
      if (avatar !== undefined && (await saveAvatar(tx, 'user', held.id, avatar))) changed.push('avatar')
      if (changed.length === 0) return held
      await emit(tx, {
        kind: 'user_updated',
        actorId: ctx.actor?.id ?? null,
        payload: {
          user_id: held.id,
          changed,
          email_confirmed: hasNewEmail && input.skip_reconfirmation === true,
        },
        facts: {
          username: next.username,
          ...(next.username !== held.username && { old_username: held.username }),
        },
      })
      await notify(tx, 'actors')
      if (attributes.admin === false) await keepAnAdministrator(tx, held)
      return (await findUser(tx, held.id))!
    })
    .catch(asConflict)
}

/**
 * Locks the account and returns it. Throws unless it is a person's and is not being removed, or if the caller has lost the permission
 * meanwhile: an administrator could undo the change that demotes them.
 */
async function lockPerson(tx: Tx, userId: number): Promise<UserRow> {
  const account = await lockState(tx, userId)
  await tx.requirePermission?.()
  if (account && account.kind !== 'human') throw forbidden('This action cannot be performed on internal users')
  if (account?.leaving) throw forbidden('This user is being removed')
  const held = account && (await findUser(tx, userId))
  if (!held) throw notFound('User')
  return held
}

/** Renames the personal namespace with its owner; its old paths become redirects. */
async function rename(tx: Tx, held: UserRow, next: { username: string; name: string }): Promise<void> {
  if (!(await renamePersonalNamespace(tx, held.id, { path: next.username, name: next.name })))
    throw conflict('Username has already been taken')
}

async function changeEmail(tx: Tx, ctx: Ctx, held: UserRow, input: UserInput): Promise<void> {
  const email = input.email!
  // Links for a new password that were sent to the old address become invalid.
  await deleteLinks(tx, held.id, 'password')
  if (input.skip_reconfirmation) {
    await replaceEmail(tx, held.id, email)
    return
  }
  await holdEmail(tx, held.id, email)
  await sendLink(tx, ctx, 'confirmation', held, email)
}

/** The id of a group's SAML provider is the group's id. False if nothing changed. */
async function changeIdentity(tx: Tx, userId: number, input: UserInput): Promise<boolean> {
  const { provider, group_id_for_saml } = input
  if (group_id_for_saml !== undefined) {
    if (provider !== samlProvider) throw invalidFields({ group_id_for_saml: [`needs provider ${samlProvider}`] })
    if (!(await isGroup(tx, group_id_for_saml))) throw notFound('Group')
  }
  const identity = identityIn(input)
  if (!identity) return false
  return saveIdentity(tx, userId, {
    ...identity,
    ...(group_id_for_saml !== undefined && { samlProviderId: group_id_for_saml }),
  })
}

export async function removeIdentity(ctx: Ctx, user: UserRow, provider: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const isDeleted = await deleteIdentity(tx, user.id, provider)
    await tx.requirePermission?.()
    if (!isDeleted) throw notFound('Identity')
    await emit(tx, {
      kind: 'user_identity_removed',
      actorId: ctx.actor!.id,
      payload: { user_id: user.id, provider },
    })
  })
}
