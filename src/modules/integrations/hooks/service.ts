import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalid, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { placeOf } from '../../groups/index.ts'
import { acceptAddress, isElsewhere, originOf } from './address.ts'
import { requireBranchFilter } from './branch-filter.ts'
import { type HookHolder, kindOf } from './holder.ts'
import { tokenPurpose, urlPurpose } from './purpose.ts'
import {
  countHooks,
  deleteHook,
  findHook,
  findSealed,
  type HookRow,
  insertHook,
  lockHolder,
  lockHook,
  nextHookId,
  updateHook,
} from './queries.ts'
import { defaultFlags, type Flag, flagsOf, systemEvents } from './triggers.ts'
import { sendAtOnce } from './wake-queries.ts'

/** Maximum hooks of a project, of a group, and of the installation. Source: supplement, "Management endpoints". */
const maxHooks = 100

const maxTokenLength = 2048

/** What a request says about a hook; absent values stay, or have their defaults. Null removes, as an empty text does. */
export type HookInput = { readonly [F in Flag]?: boolean } & {
  readonly url: string
  readonly token?: string | null
  readonly push_events_branch_filter?: string | null
  readonly enable_ssl_verification?: boolean
}

/** A token becomes the value of a header. */
function requireToken(token: string | null | undefined): void {
  if (!token) return
  if (/[^\t\x20-\x7e\x80-\xff]/.test(token))
    throw invalid('token must not contain line breaks or other control characters')
  if (token.length > maxTokenLength) throw invalid(`token is too long (maximum is ${maxTokenLength} characters)`)
}

/** The flags after a request. System hooks receive other events of the installation whatever their flags are. */
function triggersAfter(holder: HookHolder, before: readonly string[], input: HookInput): string[] {
  const kind = kindOf(holder)
  const flags = flagsOf[kind].filter((flag) => input[flag] ?? before.includes(flag))
  return kind === 'system' ? [...flags, systemEvents] : flags
}

export async function getHook(ctx: Ctx, holder: HookHolder, id: number): Promise<HookRow> {
  const hook = await findHook(ctx.db, holder, id)
  if (!hook) throw rowNotFound()
  return hook
}

export async function createHook(ctx: Ctx, holder: HookHolder, input: HookInput): Promise<HookRow> {
  const filter = input.push_events_branch_filter ?? ''
  requireToken(input.token)
  const address = await acceptAddress(ctx, kindOf(holder), input.url)
  requireBranchFilter(filter)
  return ctx.transaction(async (tx) => {
    if (!(await lockHolder(tx, holder))) throw notFound(holder.of === 'group' ? 'Group' : 'Project')
    if ((await countHooks(tx, holder)) >= maxHooks)
      throw invalidFields({ base: [`Maximum number of ${kindOf(holder)} hooks (${maxHooks}) exceeded`] })
    const id = await nextHookId(tx)
    const made = await insertHook(tx, holder, {
      id,
      sealedUrl: ctx.secrets.seal(address.whole, urlPurpose(id)),
      shownUrl: address.shown,
      host: address.host,
      sealedToken: input.token ? ctx.secrets.seal(input.token, tokenPurpose(id)) : null,
      triggers: triggersAfter(holder, defaultFlags[kindOf(holder)], input),
      branchFilter: filter,
      verifiesTls: input.enable_ssl_verification ?? true,
    })
    await emitChange(ctx, tx, 'hook_created', holder, made)
    return made
  })
}

/**
 * Absent values stay, and so does the token, except that a URL on another host removes it: maintainers cannot read the token, but they could
 * send it to themselves. An empty token removes it. The URL as records show it leaves the URL unchanged.
 */
export async function editHook(ctx: Ctx, holder: HookHolder, id: number, input: HookInput): Promise<HookRow> {
  const { push_events_branch_filter, token } = input
  const filter = push_events_branch_filter === null ? '' : push_events_branch_filter
  requireToken(token)
  const held = await getHook(ctx, holder, id)
  const address = input.url === held.shown_url ? undefined : await acceptAddress(ctx, kindOf(holder), input.url)
  if (filter !== undefined) requireBranchFilter(filter)
  return ctx.transaction(async (tx) => {
    const locked = await lockHook(tx, holder, id)
    if (!locked) throw rowNotFound()
    await tx.requirePermission?.()
    const goesElsewhere = address !== undefined && isElsewhere(locked.shown_url, address.shown)
    const newToken = token ?? (token === null || goesElsewhere ? '' : undefined)
    const { sealed_url, sealed_token } = (await findSealed(tx, id))!
    const triggers = triggersAfter(holder, locked.triggers, input)
    const isChanged =
      (address !== undefined && !ctx.secrets.matches(sealed_url, urlPurpose(id), address.whole)) ||
      (newToken === ''
        ? sealed_token !== null
        : newToken !== undefined && !ctx.secrets.matches(sealed_token, tokenPurpose(id), newToken)) ||
      changedNames(locked, { triggers, branch_filter: filter, enable_ssl_verification: input.enable_ssl_verification })
        .length > 0
    const edited = await updateHook(tx, holder, id, {
      ...(address && {
        sealedUrl: ctx.secrets.seal(address.whole, urlPurpose(id)),
        shownUrl: address.shown,
        host: address.host,
      }),
      ...(newToken !== undefined && {
        sealedToken: newToken === '' ? null : ctx.secrets.seal(newToken, tokenPurpose(id)),
      }),
      triggers,
      branchFilter: filter,
      verifiesTls: input.enable_ssl_verification,
    })
    if (!edited) throw rowNotFound()
    if (isChanged) await emitChange(ctx, tx, 'hook_updated', holder, edited)
    // Any edit ends a pause, also one that changes nothing.
    await sendAtOnce(tx, id)
    return edited
  })
}

/** Also ends its deliveries. Resolves with what the hook was. */
export const removeHook = (ctx: Ctx, holder: HookHolder, id: number): Promise<HookRow> =>
  ctx.transaction(async (tx) => {
    const deleted = await deleteHook(tx, holder, id)
    await tx.requirePermission?.()
    if (!deleted) throw rowNotFound()
    await emitChange(ctx, tx, 'hook_deleted', holder, deleted)
    return deleted
  })

const emitChange = (
  ctx: Ctx,
  tx: Tx,
  kind: 'hook_created' | 'hook_updated' | 'hook_deleted',
  holder: HookHolder,
  { id, shown_url }: Pick<HookRow, 'id' | 'shown_url'>,
): Promise<void> =>
  emit(tx, {
    kind,
    ...placeOf(holder),
    actorId: ctx.actor!.id,
    payload: { hook_id: id },
    facts: { origin: originOf(shown_url) },
  })
