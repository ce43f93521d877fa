import { type TObject, type TSchema, Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { SettingSchema } from '../../../settings/declared/schema.ts'
import type { StoredSettings } from '../../../settings/queries.ts'
import { declared, withDefaults } from '../../../settings/settings.ts'
import { privateEmailHost } from '../../accounts/index.ts'
import { openSettings } from './sealing.ts'

/** Values only: limits apply to writes, and a value stored before a limit was introduced is still returned. */
function fieldOf({ type, anyOf, enum: values, items, description, tier, secret }: SettingSchema): TSchema {
  const field = {
    ...(values ? { enum: values } : type === undefined ? {} : { type }),
    ...(anyOf && { anyOf }),
    ...(items && { items }),
    description,
    ...(tier !== undefined && { tier }),
  }
  if (secret === 'hidden') return Type.Optional(Type.Unsafe({ ...field, writeOnly: true }))
  return tier === undefined ? Type.Unsafe(field) : Type.Optional(Type.Unsafe(field))
}

const writtenOnly = (schema: TSchema, description: string): TSchema =>
  Type.Optional(Type.Unsafe({ ...schema, writeOnly: true, deprecated: true, description }))

const fields: Record<string, TSchema> = {
  id: Type.Integer({ description: 'Always 1; there is one set of settings' }),
  created_at: timestamp('Time at which the instance was set up'),
  updated_at: timestamp('Time of the last update'),
}
for (const [name, schema] of declared) {
  fields[name] = fieldOf(schema)
  if (schema.alias !== undefined) fields[schema.alias] = fieldOf({ ...schema, description: `Alias of \`${name}\`` })
}

const shown = declared.filter(([, { secret }]) => secret !== 'hidden')

export const ownHost = ({ site }: Pick<Ctx, 'site'>): string => new URL(site.url).hostname

export const ApplicationSettings = entity({
  name: 'Settings',
  schema: Type.Object({
    ...fields,
    password_authentication_enabled: Type.Boolean({ description: 'Same as `password_authentication_enabled_for_web`' }),
    signin_enabled: Type.Boolean({ description: 'Same as `password_authentication_enabled_for_web`' }),
    allow_local_requests_from_hooks_and_services: Type.Boolean({
      description: 'Same as `allow_local_requests_from_web_hooks_and_services`',
    }),
    performance_bar_allowed_group_path: writtenOnly(Type.String(), 'Written; read `performance_bar_allowed_group_id`'),
    performance_bar_enabled: writtenOnly(Type.Boolean(), 'Written; read `performance_bar_allowed_group_id`'),
  }) as TObject,
  present: ({ values, created_at, updated_at }: StoredSettings, ctx) => {
    const settings = openSettings(ctx.secrets, withDefaults(values))
    const record: Record<string, unknown> = { id: 1, created_at, updated_at }
    for (const [name, { alias }] of shown) {
      record[name] = settings[name]
      if (alias !== undefined) record[alias] = settings[name]
    }
    const web = settings.password_authentication_enabled_for_web
    const hosts = settings.asset_proxy_whitelist
    const unproxied = hosts.length > 0 ? hosts : [ownHost(ctx)]
    return Object.assign(record, {
      password_authentication_enabled: web,
      signin_enabled: web,
      allow_local_requests_from_hooks_and_services: settings.allow_local_requests_from_web_hooks_and_services,
      commit_email_hostname: privateEmailHost({ settings, site: ctx.site }),
      search_engine_url: settings.search_engine_url ?? 'http://localhost:9200',
      elasticsearch_url: settings.search_engine_url ?? 'http://localhost:9200',
      asset_proxy_whitelist: unproxied,
      asset_proxy_allowlist: unproxied,
    })
  },
})
