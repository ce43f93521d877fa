import type { Ctx } from '../../../api/ctx.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { type FieldViolations, invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank } from '../../../kernel/violations.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { isEmailAddress } from '../../accounts/index.ts'
import { findAddress } from '../hooks/address.ts'
import { urlPurpose } from '../hooks/purpose.ts'
import { findSealed, lockHolder, nextHookId } from '../hooks/queries.ts'
import { sendAtOnce } from '../hooks/wake-queries.ts'
import { channelProperties, isChat, type Properties, type Slug, serviceKinds } from './kinds.ts'
import type { ServiceInput } from './params.ts'
import { deleteService, findService, insertService, lockService, type ServiceRow, updateService } from './queries.ts'
import { recipientsIn } from './recipients.ts'

/** Maximum recipients of the mails of a service. */
const maxRecipients = 100

export const missingService = () => notFound('Service')

export async function getService(ctx: Ctx, projectId: number, slug: string): Promise<ServiceRow> {
  const service = await findService(ctx.db, projectId, slug)
  if (!service) throw missingService()
  return service
}

/** Enables a service of a project, or changes it; absent values stay. Throws `invalid` with the name of a value that is not possible. */
export async function putService(ctx: Ctx, projectId: number, slug: Slug, input: ServiceInput): Promise<ServiceRow> {
  if (input.active === false) throw new ParameterError('active does not have a valid value')
  const violations = violationsIn(input)
  if (Object.keys(violations).length > 0) throw invalidFields(violations)
  const address = input.webhook === undefined ? undefined : await findAddress(ctx, 'project', input.webhook)
  if (input.webhook !== undefined && !address)
    throw invalidFields({ webhook: ['is not a URL to which requests may go'] })
  return ctx.transaction(async (tx) => {
    // One request at a time, so that two do not create the service.
    if (!(await lockHolder(tx, { of: 'project', id: projectId }))) throw notFound('Project')
    const before = await lockService(tx, projectId, slug)
    const required = isChat(slug) ? 'webhook' : 'recipients'
    if (!before && input[required] === undefined) throw new ParameterError(`${required} is missing`)
    const id = before?.id ?? (await nextHookId(tx))
    const values = {
      triggers: triggersAfter(slug, before, input),
      properties: propertiesAfter(slug, before, input),
      address: address && {
        sealedUrl: ctx.secrets.seal(address.whole, urlPurpose(id)),
        origin: address.origin,
        host: address.host,
      },
    }
    const sealedUrl = address && before ? (await findSealed(tx, id))!.sealed_url : null
    const isSameAddress = !address || ctx.secrets.matches(sealedUrl, urlPurpose(id), address.whole)
    const row = before ? await updateService(tx, id, values) : await insertService(tx, projectId, slug, id, values)
    if (!before) await emitChange(ctx, tx, 'service_enabled', projectId, row)
    else if (!isSameAddress || changedNames(before, { triggers: row.triggers, properties: row.properties }).length > 0)
      await emitChange(ctx, tx, 'service_updated', projectId, row)
    // Any edit ends a pause, also one that changes nothing.
    await sendAtOnce(tx, id)
    return row
  })
}

/** Also ends its deliveries, and forgets its settings. */
export const removeService = (ctx: Ctx, projectId: number, slug: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const deleted = await deleteService(tx, projectId, slug)
    await tx.requirePermission?.()
    if (!deleted) throw missingService()
    await emitChange(ctx, tx, 'service_disabled', projectId, deleted)
  })

function violationsIn(input: ServiceInput): FieldViolations {
  const violations: Record<string, string[]> = {}
  for (const name of [...channelProperties, 'channel', 'username'] as const) {
    const value = input[name] ?? ''
    if (oneLine(value) !== value.trim() || (name !== 'username' && value.includes(',')))
      violations[name] = ['must be one name on one line']
  }
  if (input.recipients != null) {
    const recipients = recipientsIn(input.recipients)
    if (recipients.length === 0) violations['recipients'] = [blank]
    else if (recipients.length > maxRecipients)
      violations['recipients'] = [`are too many (maximum is ${maxRecipients})`]
    else if (!recipients.every(isEmailAddress)) violations['recipients'] = ['must be e-mail addresses']
  }
  return violations
}

const triggersAfter = (slug: Slug, before: ServiceRow | undefined, input: ServiceInput): string[] => {
  const { flags, usual } = serviceKinds[slug]
  return flags.filter((flag) => input[flag] ?? (before ? before.triggers : usual).includes(flag))
}

/** Empty texts and null remove a property. */
function propertiesAfter(slug: Slug, before: ServiceRow | undefined, input: ServiceInput): Properties {
  const { flags, defaults } = serviceKinds[slug]
  const { webhook: _, active: __, notify_only_default_branch: onlyDefault, ...given } = input
  const set = Object.entries(given).filter(([name]) => !(flags as readonly string[]).includes(name))
  const branches = onlyDefault === undefined ? {} : { branches_to_be_notified: onlyDefault ? 'default' : 'all' }
  const all = { ...defaults, ...before?.properties, ...branches, ...Object.fromEntries(set) }
  return Object.fromEntries(
    Object.entries(all)
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value])
      .filter(([, value]) => value !== null && value !== ''),
  ) as Properties
}

const emitChange = (
  ctx: Ctx,
  tx: Tx,
  kind: 'service_enabled' | 'service_updated' | 'service_disabled',
  projectId: number,
  { id, service }: ServiceRow,
): Promise<void> => emit(tx, { kind, projectId, actorId: ctx.actor!.id, payload: { service_id: id, slug: service } })
