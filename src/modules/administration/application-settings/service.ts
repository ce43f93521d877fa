import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { lockSettings, type StoredSettings } from '../../../settings/queries.ts'
import { type Settings, withDefaults } from '../../../settings/settings.ts'
import { saveSettings } from '../../../settings/store.ts'
import { violationsAbout } from '../../../settings/violations.ts'
import { putInForce } from '../../instance/index.ts'
import { unknownStorages } from '../../projects/index.ts'
import { changesIn } from './changes.ts'
import { isSecret, openSettings, sealSettings } from './sealing.ts'

/** Changes all given settings or none, and emits those that differ; every process applies them within a second. */
export async function changeSettings(ctx: Ctx, params: Readonly<Record<string, unknown>>): Promise<StoredSettings> {
  const changes = await changesIn(ctx, params)
  const storages = await unknownStorages(ctx, changes.repository_storages ?? [])
  return ctx.transaction(async (tx) => {
    const { values } = await lockSettings(tx)
    await tx.requirePermission?.()
    const before = openSettings(ctx.secrets, withDefaults(values))
    const violations = {
      ...violationsAbout({ ...before, ...changes }),
      ...(storages.length > 0 && { repository_storages: [`can't include: ${storages.join(', ')}`] }),
    }
    if (Object.keys(violations).length > 0) throw invalidFields(violations)
    await saveSettings(tx, sealSettings(ctx.secrets, changes))
    if (changes.terms && changes.terms !== values.terms) await putInForce(tx, changes.terms)
    const changed = changedNames(before, changes)
    if (changed.length > 0)
      await emit(tx, {
        kind: 'settings_updated',
        actorId: ctx.actor!.id,
        payload: { changed },
        facts: Object.fromEntries(changed.map((name) => [name, loggedValue(name, changes[name as keyof Settings])])),
      })
    return lockSettings(tx)
  })
}

/** The value as it is logged: of a secret, only whether it is set. */
const loggedValue = (name: string, value: unknown): unknown => (isSecret(name) ? value !== null : value)
