import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { lengthViolations, requiredTextViolations, violationsOf } from '../../../kernel/violations.ts'
import { colorViolations } from '../appearance/colors.ts'
import {
  type BroadcastMessage,
  type BroadcastMessageRow,
  deleteBroadcastMessage,
  findBroadcastMessage,
  insertBroadcastMessage,
  lockBroadcastMessage,
  updateBroadcastMessage,
} from './queries.ts'

export type BroadcastMessageInput = { [K in keyof BroadcastMessage]?: BroadcastMessage[K] | undefined }

const maxLengths = { message: 65_536, target_path: 255 }
const hour = 3_600_000

/** Default message: starts now and lasts an hour. */
const fresh = (): BroadcastMessage => ({
  message: '',
  starts_at: new Date(),
  ends_at: new Date(Date.now() + hour),
  color: '#E75E40',
  font: '#FFFFFF',
  target_path: null,
  broadcast_type: 'banner',
  dismissable: false,
})

const over = (held: BroadcastMessage, input: BroadcastMessageInput): BroadcastMessage => ({
  ...held,
  ...Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
})

function check({ message, color, font, target_path }: BroadcastMessage): void {
  const violations = violationsOf({
    message: requiredTextViolations(message, maxLengths.message),
    color: colorViolations(color),
    font: colorViolations(font),
    target_path: lengthViolations(target_path ?? '', maxLengths.target_path),
  })
  if (violations) throw invalidFields(violations)
}

const record = (
  ctx: Ctx,
  tx: Tx,
  kind: 'broadcast_message_created' | 'broadcast_message_updated' | 'broadcast_message_deleted',
  { id, message }: BroadcastMessageRow,
) => emit(tx, { kind, actorId: ctx.actor!.id, payload: { broadcast_message_id: id }, facts: { message } })

export async function getBroadcastMessage(ctx: Ctx, id: number): Promise<BroadcastMessageRow> {
  const found = await findBroadcastMessage(ctx.db, id)
  if (!found) throw rowNotFound()
  return found
}

export function createBroadcastMessage(ctx: Ctx, input: BroadcastMessageInput): Promise<BroadcastMessageRow> {
  const message = over(fresh(), input)
  check(message)
  return ctx.transaction(async (tx) => {
    const made = await insertBroadcastMessage(tx, message)
    await record(ctx, tx, 'broadcast_message_created', made)
    return made
  })
}

/** Absent attributes stay, and values as they are leave no trace. */
export const editBroadcastMessage = (
  ctx: Ctx,
  id: number,
  input: BroadcastMessageInput,
): Promise<BroadcastMessageRow> =>
  ctx.transaction(async (tx) => {
    const held = await lockBroadcastMessage(tx, id)
    await tx.requirePermission?.()
    if (!held) throw rowNotFound()
    const { id: _id, active: _active, starts_at, ends_at, ...rest } = held
    const before = { ...rest, starts_at: new Date(starts_at), ends_at: new Date(ends_at) }
    const message = over(before, input)
    check(message)
    if (changedNames(before, message).length === 0) return held
    const changed = await updateBroadcastMessage(tx, id, message)
    await record(ctx, tx, 'broadcast_message_updated', changed)
    return changed
  })

export const removeBroadcastMessage = (ctx: Ctx, id: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    const held = await lockBroadcastMessage(tx, id)
    await tx.requirePermission?.()
    if (!held) throw rowNotFound()
    await deleteBroadcastMessage(tx, id)
    await record(ctx, tx, 'broadcast_message_deleted', held)
  })
