import { type TObject, Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { flagSchemas, pauseFields, pauseOf } from '../hooks/entity.ts'
import { branchSets, channelProperties, type ServiceFlag, serviceFlags, serviceKinds, slugs } from './kinds.ts'
import { describedProperty } from './params.ts'
import type { ServiceRow } from './queries.ts'

const basic = {
  id: Type.Integer({ description: 'ID of the service' }),
  title: Type.String({ description: 'Name of the service' }),
  slug: Type.String({ enum: [...slugs], description: 'Name of the service in URLs' }),
  created_at: timestamp('Time at which the service was enabled'),
  updated_at: timestamp('Time of its last change'),
  active: Type.Boolean({ description: 'Always true: a service that is not active has no record' }),
  ...pauseFields,
  ...flagSchemas(serviceFlags),
}

const basicOf = (row: ServiceRow) => ({
  id: row.id,
  title: serviceKinds[row.service].title,
  slug: row.service,
  created_at: row.created_at,
  updated_at: row.updated_at,
  active: true,
  ...pauseOf(row),
  ...(Object.fromEntries(serviceFlags.map((flag) => [flag, row.triggers.includes(flag)])) as Record<
    ServiceFlag,
    boolean
  >),
})

/** A service in lists. */
export const BasicService = entity({
  name: 'BasicService',
  schema: Type.Object(basic),
  present: basicOf,
})

const texts = ['username', 'channel', ...channelProperties, 'recipients'] as const
const choices = ['notify_only_broken_pipelines', 'disable_diffs', 'send_from_committer_email'] as const

const properties: TObject = Type.Object(
  {
    branches_to_be_notified: Type.String({
      enum: [...branchSets],
      description: describedProperty('branches_to_be_notified'),
    }),
    ...Object.fromEntries(
      choices.map((name) => [name, Type.Optional(Type.Boolean({ description: describedProperty(name) }))]),
    ),
    ...Object.fromEntries(
      texts.map((name) => [name, Type.Optional(nullable(Type.String(), { description: describedProperty(name) }))]),
    ),
  },
  { description: 'Settings besides the flags; null if they are not set' },
)

/** The properties of the kind of service, null if they are not set. The URL is none of them. */
const propertiesOf = ({ service, properties }: ServiceRow) => {
  const { hasChannels, defaults } = serviceKinds[service]
  const names = hasChannels ? ['username', 'channel', ...channelProperties] : []
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...defaults, ...properties }
}

/** A service of a project with its settings; without its URL, which is a secret. */
export const Service = entity({
  name: 'Service',
  schema: Type.Object({ ...basic, properties }),
  present: (row: ServiceRow) => ({ ...basicOf(row), properties: propertiesOf(row) }),
})
