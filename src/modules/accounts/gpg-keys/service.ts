import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank, taken, tooLong } from '../../../kernel/violations.ts'
import { gpgKeyMail } from '../users/mails.ts'
import { sendNotice } from '../users/notices.ts'
import { blockBegin, blockEnd, isKeyBlock, maximumKeyLength, parseGpgKey } from './public-key.ts'
import { deleteGpgKeyOf, findGpgKeyOf, type GpgKeyRow, insertGpgKey, lockGpgKeyOf } from './queries.ts'

export async function getGpgKeyOf(ctx: Ctx, userId: number, id: number): Promise<GpgKeyRow> {
  const row = await findGpgKeyOf(ctx.db, userId, id)
  if (!row) throw notFound('GPG Key')
  return row
}

/**
 * Adds a key that is new to the installation; throws `invalid` with errors of `key`, `fingerprint` or `primary_keyid`.
 */
export async function addGpgKeyOf(ctx: Ctx, userId: number, text: string): Promise<GpgKeyRow> {
  const block = text.trim()
  const violations = blockViolations(block)
  if (violations.length > 0) throw invalidFields({ key: violations })
  const parsed = await parseGpgKey(block)
  if (!parsed) throw invalidFields({ fingerprint: [blank], primary_keyid: [blank] })
  return ctx.transaction(async (tx) => {
    const added = await insertGpgKey(tx, userId, block, parsed)
    // The insert waits for changes of the account.
    await tx.requirePermission?.()
    if (!added) throw invalidFields({ key: [taken], fingerprint: [taken], primary_keyid: [taken] })
    await record(ctx, tx, 'gpg_key_added', added)
    await sendNotice(tx, ctx, userId, gpgKeyMail(added.fingerprint))
    return added
  })
}

function blockViolations(block: string): string[] {
  if (block.length > maximumKeyLength) return [tooLong(maximumKeyLength)]
  const shape = isKeyBlock(block)
    ? []
    : [`is invalid. A valid public GPG key begins with '${blockBegin}' and ends with '${blockEnd}'`]
  return block === '' ? [blank, ...shape] : shape
}

/** Removes a key. Signatures verified with it stay verified. */
export async function removeGpgKeyOf(ctx: Ctx, userId: number, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const removed = await deleteGpgKeyOf(tx, userId, id)
    await tx.requirePermission?.()
    if (!removed) throw notFound('GPG Key')
    await record(ctx, tx, 'gpg_key_removed', removed)
  })
}

/** Revokes a key: removes it and marks signatures verified with it as unverified. */
export async function revokeGpgKeyOf(ctx: Ctx, userId: number, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    if (!(await lockGpgKeyOf(tx, userId, id))) throw notFound('GPG Key')
    await tx.requirePermission?.()
    const key = (await findGpgKeyOf(tx, userId, id))!
    // Before the deletion: signatures that were verified with the key refer to it.
    await record(ctx, tx, 'gpg_key_revoked', key)
    await deleteGpgKeyOf(tx, userId, id)
  })
}

const record = (
  ctx: Ctx,
  tx: Tx,
  kind: 'gpg_key_added' | 'gpg_key_removed' | 'gpg_key_revoked',
  { id, user_id, fingerprint }: GpgKeyRow,
) => emit(tx, { kind, actorId: ctx.actor!.id, payload: { user_id, gpg_key_id: id }, facts: { fingerprint } })
