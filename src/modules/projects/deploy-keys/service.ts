import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { Failure, forbidden, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import {
  addKey,
  deletePublicKey,
  type KeyInput,
  makePublic,
  parsePublicKey,
  titleViolations,
  updateTitle,
} from '../../accounts/index.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import {
  type AnyDeployKeyRow,
  type DeployKeyRow,
  disableKey,
  enableKey,
  findAnyDeployKey,
  findDeployKey,
  findMaintainedKey,
  findMaintainedKeyBySha256,
  holdDeployKey,
  isMaintainedElsewhere,
  lockProjectOfKeys,
  lockUses,
  setCanPush,
} from './queries.ts'

export async function getDeployKey(ctx: Ctx, project: ProjectSubject, keyId: number): Promise<DeployKeyRow> {
  const row = await findDeployKey(ctx.db, project.id, keyId)
  if (!row) throw rowNotFound()
  return row
}

/**
 * Adds a deploy key to a project. A key of the caller's other projects is enabled here too; a key that the project has
 * already is unchanged.
 */
export async function addDeployKey(
  ctx: Ctx,
  project: ProjectSubject,
  input: KeyInput & { can_push: boolean },
): Promise<DeployKeyRow> {
  return ctx.transaction(async (tx) => {
    const { keyId, isNew } = await keyFor(ctx, tx, input)
    const enabled = await enableForCaller(tx, { projectId: project.id, keyId, canPush: input.can_push })
    if (!enabled) throw keyRemoved()
    if (enabled.added && !isNew && !(await isMaintainedElsewhere(tx, ctx.actor!, keyId, project.id))) throw forbidden()
    const { can_push } = input
    if (enabled.added)
      await record(ctx, tx, isNew ? 'deploy_key_added' : 'deploy_key_enabled', project, keyId, {
        title: enabled.title,
        can_push,
      })
    return (await findDeployKey(tx, project.id, keyId))!
  })
}

/** Enables a key. Throws if the caller has lost the permission during the wait for changes of project and key. */
async function enableForCaller(tx: Tx, enabled: Parameters<typeof enableKey>[1]) {
  await lockProjectOfKeys(tx, enabled.projectId)
  await lockUses(tx, enabled.keyId, enabled.projectId)
  const made = await enableKey(tx, enabled)
  await tx.requirePermission?.()
  return made
}

/** The key with this text: one that the caller may use already, or a new one. */
async function keyFor(ctx: Ctx, tx: Tx, input: KeyInput): Promise<{ keyId: number; isNew: boolean }> {
  const actor = ctx.actor!
  const parsed = parsePublicKey(input.key)
  const find = async () => parsed && (await findMaintainedKeyBySha256(tx, actor, parsed.sha256))
  const known = await find()
  if (known) return { keyId: known.id, isNew: false }
  const result = await addKey(tx, ctx.settings, input, { userId: null, creatorId: actor.id })
  if ('added' in result) return { keyId: result.added.id, isNew: true }
  // A concurrent request may have added it.
  const meanwhile = await find()
  if (!meanwhile) throw invalidFields(ofDeployKey(result.refused))
  return { keyId: meanwhile.id, isNew: false }
}

/** Errors refer to the key inside the record that enables it. */
const ofDeployKey = (fields: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, violations]) => [`deploy_key.${name}`, violations]))

const keyRemoved = () => new Failure('conflict', 'The key was removed meanwhile')

/** Enables a key of another project of the caller, without permission to push. */
export async function enableDeployKey(ctx: Ctx, project: ProjectSubject, keyId: number): Promise<DeployKeyRow> {
  const known = await findMaintainedKey(ctx.db, ctx.actor!, keyId)
  if (!known) throw notFound('Deploy Key')
  await ctx.transaction(async (tx) => {
    const enabled = await enableForCaller(tx, { projectId: project.id, keyId, canPush: false })
    if (!enabled) throw notFound('Deploy Key')
    if (!enabled.added) return
    // The right in the project that has the key may have been lost during the wait, too.
    if (!(await isMaintainedElsewhere(tx, ctx.actor!, keyId, project.id))) throw notFound('Deploy Key')
    await record(ctx, tx, 'deploy_key_enabled', project, keyId, { title: enabled.title, can_push: false })
  })
  return getDeployKey(ctx, project, keyId)
}

/** The title belongs to the key and changes wherever it is enabled; the permission to push belongs to this project. */
export async function updateDeployKey(
  ctx: Ctx,
  project: ProjectSubject,
  keyId: number,
  { title, can_push }: { title?: string; can_push?: boolean },
): Promise<DeployKeyRow> {
  await ctx.transaction(async (tx) => {
    const held = await holdDeployKey(tx, project.id, keyId)
    await tx.requirePermission?.()
    if (!held) throw rowNotFound()
    if (held.public && title !== undefined && title !== held.title && !ctx.actor!.admin) throw forbidden()
    const violations = title === undefined ? [] : titleViolations(title)
    if (violations.length > 0) throw invalidFields({ 'deploy_key.title': violations })
    const renamed = title === undefined ? 0 : await updateTitle(tx, keyId, title)
    const allowed = can_push === undefined ? 0 : await setCanPush(tx, project.id, keyId, can_push)
    // A title waits for other changes of the key.
    if (title !== undefined) await tx.requirePermission?.()
    if (renamed + allowed > 0)
      await record(ctx, tx, 'deploy_key_updated', project, keyId, {
        ...(renamed > 0 && { title }),
        ...(allowed > 0 && { can_push }),
      })
  })
  return getDeployKey(ctx, project, keyId)
}

export async function removeDeployKey(ctx: Ctx, project: ProjectSubject, keyId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const removed = await disableKey(tx, project.id, keyId)
    await tx.requirePermission?.()
    if (!removed) throw rowNotFound()
    await record(ctx, tx, 'deploy_key_removed', project, keyId, removed)
  })
}

/** Adds a public deploy key, which every project may enable. */
export async function addPublicKey(ctx: Ctx, input: KeyInput): Promise<AnyDeployKeyRow> {
  return ctx.transaction(async (tx) => {
    const result = await addKey(tx, ctx.settings, input, { userId: null, creatorId: ctx.actor!.id })
    // It waits for others that add the same key.
    await tx.requirePermission?.()
    if ('refused' in result) throw invalidFields(result.refused)
    const { id, title } = result.added
    await makePublic(tx, id)
    await emit(tx, {
      kind: 'deploy_key_added',
      actorId: ctx.actor!.id,
      payload: { deploy_key_id: id, public: true },
      facts: { title },
    })
    return (await findAnyDeployKey(tx, id))!
  })
}

/** Deletes a public deploy key, wherever it is enabled. */
export async function removePublicKey(ctx: Ctx, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockUses(tx, id)
    const removed = await deletePublicKey(tx, id)
    await tx.requirePermission?.()
    if (!removed) throw rowNotFound()
    await emit(tx, {
      kind: 'deploy_key_removed',
      actorId: ctx.actor!.id,
      payload: { deploy_key_id: id, public: true },
      facts: { title: removed.title },
    })
  })
}

const record = (
  ctx: Ctx,
  tx: Tx,
  kind: 'deploy_key_added' | 'deploy_key_enabled' | 'deploy_key_updated' | 'deploy_key_removed',
  { id }: ProjectSubject,
  keyId: number,
  { title, can_push }: { readonly title?: string; readonly can_push?: boolean },
) =>
  emit(tx, {
    kind,
    projectId: id,
    actorId: ctx.actor!.id,
    payload: { deploy_key_id: keyId, ...(can_push !== undefined && { can_push }) },
    facts: { ...(title !== undefined && { title }) },
  })
