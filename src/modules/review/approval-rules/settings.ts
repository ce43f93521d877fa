import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { editProject, lockToChange, type ProjectSubject } from '../../projects/index.ts'
import { ruleOfApprovers } from './approvers.ts'
import type { ApprovalConfigurationRow } from './entity.ts'
import { findRuleNamed } from './queries.ts'
import { findApprovalSettings, type ProjectApprovalSettings, saveApprovalSettings } from './settings-queries.ts'

async function getApprovalSettings(ctx: Ctx, projectId: number): Promise<ProjectApprovalSettings> {
  const settings = await findApprovalSettings(ctx.db, projectId)
  if (!settings) throw rowNotFound()
  return settings
}

/** The settings of a project, and its rule of approvers. */
export async function getApprovalConfiguration(ctx: Ctx, projectId: number): Promise<ApprovalConfigurationRow> {
  const [settings, approvers] = await Promise.all([
    getApprovalSettings(ctx, projectId),
    findRuleNamed(ctx.db, projectId, ctx.actor, ruleOfApprovers),
  ])
  return { settings, approvers }
}

export type ApprovalSettingsInput = {
  readonly [Name in keyof ProjectApprovalSettings]?: ProjectApprovalSettings[Name]
} & { readonly selective_code_owner_removals?: boolean }

/**
 * Changes how a project handles approvals; absent settings stay. Throws `invalid` for `selective_code_owner_removals`, because
 * approvals of code owners are not distinguished.
 */
export async function changeApprovalSettings(
  ctx: Ctx,
  project: ProjectSubject,
  { selective_code_owner_removals, approvals_before_merge, ...settings }: ApprovalSettingsInput,
): Promise<void> {
  if (selective_code_owner_removals)
    throw invalidFields({
      selective_code_owner_removals: ['is not supported: approvals of code owners are like others'],
    })
  const save = (tx: Tx) => saveChanged(tx, project.id, ctx.actor!.id, settings)
  const before = await findApprovalSettings(ctx.db, project.id)
  const isEdit = approvals_before_merge !== undefined && approvals_before_merge !== before?.approvals_before_merge
  if (isEdit)
    await editProject(ctx, project, { approvals_before_merge }, async (tx) => {
      await save(tx)
      // Those have an event of their own.
      return []
    })
  else
    await ctx.transaction(async (tx) => {
      await lockToChange(tx, project.id)
      await save(tx)
    })
}

/** Saves settings of a project, whose row is locked, if one of them differs. */
async function saveChanged(
  tx: Tx,
  projectId: number,
  actorId: number,
  settings: Omit<ApprovalSettingsInput, 'approvals_before_merge' | 'selective_code_owner_removals'>,
): Promise<void> {
  const before = await findApprovalSettings(tx, projectId)
  if (!before) throw rowNotFound()
  const changed = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined || value === before[name as keyof typeof settings] ? [] : [name],
  )
  if (changed.length === 0) return
  await saveApprovalSettings(tx, projectId, settings)
  await emit(tx, { kind: 'approval_settings_changed', projectId, actorId, payload: { changed } })
}
