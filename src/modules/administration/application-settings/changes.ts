import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../../../api/ctx.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { durationInWords, readDuration } from '../../../settings/declared/durations.ts'
import type { SettingSchema } from '../../../settings/declared/schema.ts'
import { declared, type Settings } from '../../../settings/settings.ts'
import { findGroup } from '../../groups/index.ts'
import { ownHost } from './entity.ts'

type Given = Readonly<Record<string, unknown>>

/** Changes of settings from the parameters, secrets in clear. Absent settings stay. */
export async function changesIn(ctx: Ctx, params: Given): Promise<Partial<Settings>> {
  const changes: Record<string, unknown> = {}
  for (const [name, schema] of declared) {
    const value = valueByEitherName(params, name, schema.alias)
    if (value !== undefined) changes[name] = normal(value, schema)
  }
  const web = params['password_authentication_enabled'] ?? params['signin_enabled']
  if (web !== undefined) changes['password_authentication_enabled_for_web'] = web
  const local = params['allow_local_requests_from_hooks_and_services']
  if (local !== undefined) changes['allow_local_requests_from_web_hooks_and_services'] ??= local
  const proxied = changes['asset_proxy_whitelist']
  if (Array.isArray(proxied)) changes['asset_proxy_whitelist'] = [...new Set([...proxied, ownHost(ctx)])]
  const age = changes['archive_builds_in_human_readable']
  if (typeof age === 'string') changes['archive_builds_in_human_readable'] = inWords(age)
  delete changes['performance_bar_allowed_group_id']
  const group = await performanceBarGroup(ctx, params)
  if (group !== undefined) changes['performance_bar_allowed_group_id'] = group
  return changes as Partial<Settings>
}

/** The value under its name or its alias; both may be sent if they are equal. */
function valueByEitherName(params: Given, name: string, alias: string | undefined): unknown {
  const other = alias === undefined ? undefined : params[alias]
  const value = params[name]
  if (value !== undefined && other !== undefined && !isDeepStrictEqual(value, other))
    throw new ParameterError(`${name}, ${alias} are mutually exclusive`)
  return value === undefined ? other : value
}

function normal(value: unknown, { enum: values, items, secret }: SettingSchema): unknown {
  if (values?.includes(null) && (value === 'nil' || value === '')) return null
  if (secret !== undefined && value === '') return null
  if (items === undefined) return value
  if (value === null) return []
  const entries = typeof value === 'string' ? [value] : (value as readonly unknown[])
  const split = items.enum === undefined && items.type === 'string' ? entries.flatMap(wordsOf) : entries
  return [...new Set(split)]
}

const wordsOf = (text: unknown): string[] =>
  String(text)
    .split(/[\s,;]+/)
    .filter((word) => word !== '')

const inWords = (text: string): string | null => {
  if (text.trim() === '') return null
  const seconds = readDuration(text)
  return seconds === undefined ? text : durationInWords(seconds)
}

/** The group's id, null if no group has that path, undefined if the parameter is absent. */
async function performanceBarGroup(ctx: Ctx, params: Given): Promise<number | null | undefined> {
  if (params['performance_bar_enabled'] === false) return null
  const path = params['performance_bar_allowed_group_path'] ?? params['performance_bar_allowed_group_id']
  if (typeof path === 'string' && path !== '') return (await findGroup(ctx.db, ctx.actor, path))?.id ?? null
  const isGiven = 'performance_bar_allowed_group_path' in params || 'performance_bar_allowed_group_id' in params
  return isGiven ? null : undefined
}
