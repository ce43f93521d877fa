import type { Ctx } from '../../../api/ctx.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { notFound } from '../../../kernel/failure.ts'
import { defaults } from '../../../settings/settings.ts'
import { saveSettings } from '../../../settings/store.ts'
import { findUserByName } from '../../accounts/index.ts'
import { loadGroup } from '../../groups/index.ts'
import { loadProject } from '../../projects/index.ts'
import { disable, enable, enablePartly, type Gates, type Percentage, stateOf, type Targets } from './gates.ts'
import { deleteFeature, type FeatureRow, lockFeature, saveFeature } from './queries.ts'

export type FeatureInput = {
  readonly value: string
  readonly key: Percentage
  readonly feature_group?: string
  readonly user?: string
  readonly group?: string
  readonly project?: string
}

/** Switches that the product itself reads; they are stored as settings, so that every process applies them at once. */
const settingOf: Readonly<Record<string, 'limit_projects_in_groups_api'>> = {
  limit_projects_in_groups_api: 'limit_projects_in_groups_api',
}

/** Switches a feature on or off, for everyone or some actors, or on for a percentage. */
export async function switchFeature(ctx: Ctx, name: string, input: FeatureInput): Promise<FeatureRow> {
  const targets = await targetsOf(ctx, input)
  const change = changeOf(input, targets)
  return ctx.transaction(async (tx) => {
    const held = await lockFeature(tx, name)
    await tx.requirePermission?.()
    const feature = { name, gates: change(held.gates) }
    await saveFeature(tx, feature)
    await applySetting(tx, name, stateOf(feature.gates) === 'on')
    await emit(tx, {
      kind: 'feature_switched',
      actorId: ctx.actor!.id,
      payload: { name },
      facts: { gates: feature.gates },
    })
    return feature
  })
}

/** Resets the switch to its default. Idempotent. */
export const forgetFeature = (ctx: Ctx, name: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const deleted = await deleteFeature(tx, name)
    await tx.requirePermission?.()
    if (deleted === 0) return
    await applySetting(tx, name, undefined)
    await emit(tx, { kind: 'feature_forgotten', actorId: ctx.actor!.id, payload: { name } })
  })

async function applySetting(tx: Tx, name: string, value: boolean | undefined): Promise<void> {
  const setting = Object.hasOwn(settingOf, name) ? settingOf[name] : undefined
  if (setting) await saveSettings(tx, { [setting]: value ?? defaults[setting] })
}

function changeOf({ value, key }: FeatureInput, targets: Targets): (gates: Gates) => Gates {
  if (value === 'true') return (gates) => enable(gates, targets)
  if (value === 'false' || value === '0') return (gates) => disable(gates, targets)
  const percentage = /^\d{1,3}$/.test(value) ? Number(value) : Number.NaN
  if (!(percentage <= 100)) throw new ParameterError('value does not have a valid value')
  return (gates) => enablePartly(gates, key, percentage)
}

async function targetsOf(ctx: Ctx, { feature_group, user, group, project }: FeatureInput): Promise<Targets> {
  const actor = async (what: string, find: Promise<{ id: number } | undefined>) => {
    const found = await find
    if (!found) throw notFound(what)
    return `${what}:${found.id}`
  }
  return {
    actors: await Promise.all([
      ...(user ? [actor('User', findUserByName(ctx.db, user))] : []),
      ...(group ? [actor('Group', loadGroup(group, ctx))] : []),
      ...(project ? [actor('Project', loadProject(project, ctx))] : []),
    ]),
    groups: feature_group ? [feature_group] : [],
  }
}
