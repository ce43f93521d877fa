import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { requiredTextViolations, violationsOf } from '../../../kernel/violations.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { type CustomAttributeRow, deleteCustomAttribute, saveCustomAttribute } from './queries.ts'

const maxLengths = { key: 255, value: 65_535 }

/** Creates or replaces an attribute. */
export async function setCustomAttribute(
  ctx: Ctx,
  holder: Holder,
  attribute: CustomAttributeRow,
): Promise<CustomAttributeRow> {
  const violations = violationsOf({
    key: requiredTextViolations(attribute.key, maxLengths.key),
    value: requiredTextViolations(attribute.value, maxLengths.value),
  })
  if (violations) throw invalidFields(violations)
  await ctx.transaction(async (tx) => {
    const isChanged = await saveCustomAttribute(tx, holder, attribute)
    // It waits for changes of the holder and of the attribute.
    await tx.requirePermission?.()
    if (isChanged) await record(ctx, tx, 'custom_attribute_set', holder, attribute.key)
  })
  return attribute
}

export async function removeCustomAttribute(ctx: Ctx, holder: Holder, key: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const deleted = await deleteCustomAttribute(tx, holder, key)
    await tx.requirePermission?.()
    if (!deleted) throw rowNotFound()
    await record(ctx, tx, 'custom_attribute_removed', holder, key)
  })
}

const record = (
  ctx: Ctx,
  tx: Parameters<typeof emit>[0],
  kind: 'custom_attribute_set' | 'custom_attribute_removed',
  holder: Holder,
  key: string,
) =>
  emit(tx, {
    kind,
    ...placeOf(holder),
    actorId: ctx.actor!.id,
    payload: { key, ...(holder.of === 'user' && { user_id: holder.id }) },
  })
