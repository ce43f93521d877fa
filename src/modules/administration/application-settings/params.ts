import type { TSchema } from 'typebox'
import {
  CommaList,
  Decimal,
  Flag,
  Nullable,
  OneOf,
  Optional,
  type ParamOptions,
  Params,
  Text,
  Whole,
} from '../../../api/params/types.ts'
import type { SettingSchema } from '../../../settings/declared/schema.ts'
import { declared } from '../../../settings/settings.ts'

/** The type of a setting as a parameter. Its limits are rules of the record, with error messages of their own. */
function valueParam({ type, anyOf, enum: values, items }: SettingSchema): TSchema {
  if (values) {
    const given = values.filter((value) => value !== null)
    return OneOf(values.includes(null) ? [...given, 'nil', ''] : given)
  }
  if (items?.enum) return CommaList(OneOf(items.enum))
  if (items?.type === 'integer') return CommaList(Whole())
  if (items) return textOrList
  switch (type ?? anyOf?.[0]?.type) {
    case 'boolean':
      return Flag()
    case 'integer':
      return Whole()
    case 'number':
      return Decimal()
    default:
      return Text()
  }
}

/** Words as a list or as one text: `a.example, b.example`. */
const textOrList = { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] } as unknown as TSchema

const param = (value: TSchema, options: ParamOptions<never>): TSchema => Optional(Nullable(value, options))

const described = ({ description, tier, without, guards }: SettingSchema): ParamOptions<never> => ({
  description:
    without === undefined
      ? description
      : `${description}. ${guards === 'there' ? 'Cannot be set yet' : 'No effect yet'}: requires ${without}`,
  ...(tier !== undefined && { tier }),
})

const named: Record<string, TSchema> = {}
for (const [name, schema] of declared) {
  named[name] = param(valueParam(schema), described(schema))
  if (schema.alias !== undefined)
    named[schema.alias] = param(valueParam(schema), {
      ...described(schema),
      description: `Alias of \`${name}\``,
    })
}

/** Deprecated names, with the current name of each. */
const old = (name: string, value: TSchema): TSchema =>
  param(value, { description: `Deprecated name of \`${name}\``, deprecated: true })

const former: Record<string, TSchema> = {
  allow_local_requests_from_hooks_and_services: old('allow_local_requests_from_web_hooks_and_services', Flag()),
  password_authentication_enabled: old('password_authentication_enabled_for_web', Flag()),
  signin_enabled: old('password_authentication_enabled_for_web', Flag()),
  performance_bar_allowed_group_id: old('performance_bar_allowed_group_path', Text()),
  performance_bar_enabled: old('performance_bar_allowed_group_path', Flag()),
}

const properties: Record<string, TSchema> = {
  ...named,
  performance_bar_allowed_group_path: param(Text(), {
    description: 'Full path of the group that sees the performance bar',
  }),
  ...former,
}

/** Parameters that are required when a flag is enabled, including their alternative names. */
const needed = declared.flatMap(([name, { alias, sentWith = [] }]) =>
  sentWith.flatMap((other) => {
    const otherAlias = declared.find(([each]) => each === other)?.[1].alias
    return [
      { name, is: true, needs: other },
      ...(alias === undefined ? [] : [{ name: alias, is: true, needs: otherAlias ?? other }]),
    ]
  }),
)

export const settingParams = Params(properties, {
  atLeastOneOf: Object.keys(properties),
  mutuallyExclusive: [['password_authentication_enabled_for_web', 'password_authentication_enabled', 'signin_enabled']],
  needed,
})
