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
import { emailChangedMail, passwordChangedMail } from './mails.ts'
import { findNotified } from './notice-queries.ts'
import { sendNotice } from './notices.ts'
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

/** What an edit is about: the account as it is, locked; what the caller gave; and the account as it shall be. */
type Edit = {
  readonly held: UserRow
  readonly input: UserInput
  readonly attributes: Partial<UserAttributes>
  readonly next: UserRow
  readonly hasNewEmail: boolean
}

/** Attributes that become an empty text when they are removed; the others become null. */
const texts = ['public_email', 'skype', 'linkedin', 'twitter', 'website_url', 'job_title'] as const

function attributesOf(input: UserInput, held: UserRow, defaultLimit: number): Partial<UserAttributes> {
  const { projects_limit: limit, ...rest } = input
  const given = { ...rest, ...(limit != null && { projects_limit: limit }) } as Partial<UserAttributes>
  for (const name of texts) if (input[name] === null) given[name] = ''
  // Empty means the address of the account, also after that changes.
  if (input.commit_email === '') given.commit_email = null
  if (input.private_profile === null) given.private_profile = false
  const external = given.external ?? held.external
  // External users can create neither projects nor groups, whatever was requested; users who stop being external get
  // the defaults of new users.
  if (external) return { ...given, can_create_group: false, projects_limit: 0 }
  return held.external ? { can_create_group: true, projects_limit: defaultLimit, ...given } : given
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
      const held = await lockToEdit(tx, user, input)
      const edit = editOf(ctx, held, input)
      await requireValid(tx, edit)
      const changed = [
        ...(await writeAttributes(tx, edit)),
        ...(await writeEmail(tx, ctx, edit)),
        ...(await writeNewPassword(tx, ctx, edit, passwordDigest)),
        ...((await changeIdentity(tx, held.id, input)) ? ['provider'] : []),
        ...(avatar !== undefined && (await saveAvatar(tx, 'user', held.id, avatar)) ? ['avatar'] : []),
      ]
      if (changed.length === 0) return held
      await emitEdited(tx, ctx, edit, changed)
      await notify(tx, 'actors')
      if (edit.attributes.admin === false) await keepAnAdministrator(tx, held)
      return (await findUser(tx, held.id))!
    })
    .catch(asConflict)
}

/**
 * Locks the account, after the personal namespace that a new name renames, and returns it. Throws unless it is a person's and is not being
 * removed, or if the caller has lost the permission meanwhile: an administrator could undo the change that demotes them.
 */
async function lockToEdit(tx: Tx, { id }: UserRow, input: UserInput): Promise<UserRow> {
  if (input.username !== undefined || input.name !== undefined) await lockPersonalNamespace(tx, id)
  const account = await lockState(tx, id)
  await tx.requirePermission?.()
  if (account && account.kind !== 'human') throw forbidden('This action cannot be performed on internal users')
  if (account?.leaving) throw forbidden('This user is being removed')
  const held = account && (await findUser(tx, id))
  if (!held) throw notFound('User')
  return held
}

/** Reads the parameters against the account as it is. */
function editOf(ctx: Ctx, held: UserRow, input: UserInput): Edit {
  const attributes = attributesOf(input, held, ctx.settings.default_projects_limit)
  const next = { ...held, ...attributes, email: input.email ?? held.email }
  return { held, input, attributes, next, hasNewEmail: next.email !== held.email }
}

/** Throws unless the account may be as the edit leaves it, and no other account has the address. */
async function requireValid(tx: Tx, { held, input, next, hasNewEmail }: Edit): Promise<void> {
  const looked = new Set(Object.keys(input))
  // A stored address may have a form that new ones cannot have.
  if (!hasNewEmail) looked.delete('email')
  const violations = violationsOf(accountViolations(next, looked))
  if (violations) throw invalidFields(violations)
  // Before the username, as when a user is created.
  if (hasNewEmail && (await isOthersEmail(tx, held.id, next.email))) throw conflict(emailTaken)
}

/** Returns the names of the attributes that change. A new name renames the personal namespace; its old paths become redirects. */
async function writeAttributes(tx: Tx, { held, attributes, next }: Edit): Promise<string[]> {
  const changed = changedNames(held, attributesAmong(attributes))
  if (changed.length > 0) await updateUser(tx, held.id, attributes)
  if (next.username !== held.username || next.name !== held.name) {
    const isRenamed = await renamePersonalNamespace(tx, held.id, { path: next.username, name: next.name })
    if (!isRenamed) throw conflict('Username has already been taken')
  }
  return changed
}

/** Changes the address, or sends a confirmation mail to the new one, and requires the other addresses to be the user's. */
async function writeEmail(tx: Tx, ctx: Ctx, edit: Edit): Promise<string[]> {
  const { held, input, attributes, hasNewEmail } = edit
  if (hasNewEmail) await changeEmail(tx, ctx, edit)
  // A reader of the mail to a wrong address must not take over the account once that was noticed.
  const dropsEmail = !hasNewEmail && input.email !== undefined && (await dropHeldEmail(tx, held.id)) > 0
  const { public_email: shown, commit_email: chosen } = attributes
  if (shown && !(await ownsEmail(tx, held.id, shown)))
    throw invalidFields({ public_email: ['is not an email you own'] })
  if (chosen && chosen !== privateChoice && !(await ownsEmail(tx, held.id, chosen)))
    throw invalidFields({ commit_email: ['must be an email you have verified'] })
  return hasNewEmail || dropsEmail ? ['email'] : []
}

async function changeEmail(tx: Tx, ctx: Ctx, { held, input, next }: Edit): Promise<void> {
  // Links for a new password that were sent to the old address become invalid.
  await deleteLinks(tx, held.id, 'password')
  if (input.skip_reconfirmation) {
    const before = await findNotified(tx, held.id)
    await replaceEmail(tx, held.id, next.email)
    if (before) await sendNotice(tx, ctx, held.id, emailChangedMail, before)
    return
  }
  await holdEmail(tx, held.id, next.email)
  await sendLink(tx, ctx, 'confirmation', held, next.email)
}

/** Sets the password, if there is a new one. Links for a new password that were sent before become invalid. */
async function writeNewPassword(
  tx: Tx,
  ctx: Ctx,
  { held, input, next }: Edit,
  digest: string | undefined,
): Promise<string[]> {
  if (digest === undefined) return []
  await deleteLinks(tx, held.id, 'password')
  if (!input.reset_password) {
    await writePassword(tx, held.id, digest, held.id !== ctx.actor?.id)
    await sendNotice(tx, ctx, held.id, passwordChangedMail)
    return ['password']
  }
  await writePassword(tx, held.id, digest, false)
  await sendLink(tx, ctx, 'password', next, input.skip_reconfirmation ? next.email : held.email)
  return ['reset_password']
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

async function emitEdited(tx: Tx, ctx: Ctx, edit: Edit, changed: readonly string[]): Promise<void> {
  const { held, input, next, hasNewEmail } = edit
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
