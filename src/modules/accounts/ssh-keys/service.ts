import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { wallClockMs } from '../../../kernel/clock.ts'
import { type FieldViolations, invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank, requiredTextViolations, taken, tooLong, violationsOf } from '../../../kernel/violations.ts'
import type { Settings } from '../../../settings/settings.ts'
import { sshKeyMail } from '../users/mails.ts'
import { sendNotice } from '../users/notices.ts'
import { findUser, type UserRow } from '../users/queries.ts'
import { parseFingerprint } from './fingerprint.ts'
import { maximumKeyLength, type PublicKey, parsePublicKey } from './public-key.ts'
import {
  deleteKeyOf,
  type EnabledRow,
  enabledOf,
  findKeyByFingerprint,
  findKeyOf,
  insertKey,
  type NewSshKey,
  type SshKeyRow,
} from './queries.ts'
import { restrictionViolations } from './restrictions.ts'

const maximumTitleLength = 255

export type KeyInput = { title: string; key: string; expires_at?: Date }

export const titleViolations = (title: string): string[] => requiredTextViolations(title, maximumTitleLength)

const keyViolations = (text: string, parsed: PublicKey | undefined, settings: Settings): string[] => {
  if (text.length > maximumKeyLength) return [tooLong(maximumKeyLength)]
  const shape = /^\s*(ssh|ecdsa)-/.test(text) ? [] : ['is invalid']
  if (text.trim() === '') return [blank, ...shape]
  return parsed ? restrictionViolations(parsed, settings) : shape
}

const expiryViolations = (expires: Date | undefined): string[] =>
  expires && expires.getTime() <= wallClockMs() ? ['has expired'] : []

/** Parses title and key; all errors by field, or the key. */
function readInput(
  { title, key, expires_at }: KeyInput,
  settings: Settings,
): { parsed: PublicKey } | { refused: FieldViolations } {
  const parsed = parsePublicKey(key)
  const refused = violationsOf({
    title: titleViolations(title),
    key: [...keyViolations(key, parsed, settings), ...expiryViolations(expires_at)],
    fingerprint: parsed || key.length > maximumKeyLength ? [] : ['cannot be generated'],
  })
  return refused || !parsed ? { refused: refused! } : { parsed }
}

const duplicate = { key: [taken], fingerprint: [taken], fingerprint_sha256: [taken] }

/** Adds a key that is new to the installation, or returns errors by field (`title`, `key`, `fingerprint`, …). */
export async function addKey(
  db: Db,
  settings: Settings,
  input: KeyInput,
  owner: Pick<NewSshKey, 'userId' | 'creatorId'>,
): Promise<{ added: SshKeyRow } | { refused: FieldViolations }> {
  const read = readInput(input, settings)
  if ('refused' in read) return read
  const { text, md5, sha256 } = read.parsed
  const added = await insertKey(db, {
    ...owner,
    title: input.title,
    key: text,
    md5,
    sha256,
    expiresAt: input.expires_at ?? null,
  })
  return added ? { added } : { refused: duplicate }
}

export async function addKeyOf(ctx: Ctx, userId: number, input: KeyInput): Promise<SshKeyRow> {
  return ctx.transaction(async (tx) => {
    const result = await addKey(tx, ctx.settings, input, { userId, creatorId: null })
    // The insert waits for changes of the account.
    await tx.requirePermission?.()
    if ('refused' in result) throw invalidFields(result.refused)
    await record(ctx, tx, 'ssh_key_added', userId, result.added)
    const { title, fingerprint_sha256 } = result.added
    await sendNotice(tx, ctx, userId, sshKeyMail(title, `SHA256:${fingerprint_sha256}`))
    return result.added
  })
}

export async function removeKeyOf(ctx: Ctx, userId: number, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const removed = await deleteKeyOf(tx, userId, id)
    await tx.requirePermission?.()
    if (!removed) throw notFound('Key')
    await record(ctx, tx, 'ssh_key_removed', userId, removed)
  })
}

const record = (
  ctx: Ctx,
  tx: Tx,
  kind: 'ssh_key_added' | 'ssh_key_removed',
  userId: number,
  { id, title, key, fingerprint_sha256 }: SshKeyRow,
) =>
  emit(tx, {
    kind,
    actorId: ctx.actor!.id,
    payload: { user_id: userId, key_id: id },
    facts: { title, key, fingerprint: `SHA256:${fingerprint_sha256}` },
  })

export async function getKeyOf(ctx: Ctx, userId: number, id: number): Promise<SshKeyRow> {
  const row = await findKeyOf(ctx.db, userId, id)
  if (!row) throw notFound('Key')
  return row
}

export async function getKeyByFingerprint(ctx: Ctx, text: string): Promise<SshKeyRow> {
  const fingerprint = parseFingerprint(text)
  if (!fingerprint) throw invalid('Failed to return the key')
  const row = await findKeyByFingerprint(ctx.db, fingerprint)
  if (!row) throw notFound('Key')
  return row
}

/** A key with its account and, for a deploy key, the projects where it is enabled. Two statements in one round trip. */
export async function withHolder(
  ctx: Ctx,
  row: SshKeyRow,
): Promise<SshKeyRow & { user: UserRow | undefined; enabled: EnabledRow[] | undefined }> {
  const userId = row.user_id ?? row.creator_id
  const [user, enabled] = await Promise.all([
    userId === null ? undefined : findUser(ctx.db, userId),
    row.user_id === null ? enabledOf(ctx.db, row.id) : undefined,
  ])
  return { ...row, user, enabled }
}
