import type { TProperties } from 'typebox'
import { Flag, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { flagDescription } from '../hooks/entity.ts'
import { branchSets, channelOf, isChat, type Properties, type ServiceFlag, type Slug, serviceKinds } from './kinds.ts'

/** A name of a channel or a sender is one line of a chat. */
const maxNameLength = 100

const about = {
  branches_to_be_notified:
    'Branches of whose pushes and pipelines it is notified; tags are not restricted. `default_and_protected`: both',
  notify_only_broken_pipelines: 'Notify of failed pipelines only, not of those that passed',
  username: 'Name under which messages appear',
  channel: 'Channel of messages whose event has no channel of its own; null or empty for that of the webhook',
  recipients: 'Addresses that get a mail each, separated by spaces, commas or line breaks',
  disable_diffs: 'Leave the differences of the files out',
  send_from_committer_email:
    'Show the pusher as the sender, if their e-mail address has the domain of the installation or a part of it',
} as const

const plural = (noun: string): string => (/(?:s|sh|ch|x)$/.test(noun) ? `${noun}es` : `${noun}s`)

export const describedProperty = (name: string): string =>
  about[name as keyof typeof about] ??
  `Channel of messages about ${plural(name.replace('_channel', '').replaceAll('_', ' '))}`

const oneLineName = (name: string) =>
  Optional(Nullable(Text({ maxLength: maxNameLength, description: describedProperty(name) })))
const flag = (name: keyof typeof about) => Optional(Flag({ description: about[name] }))

const chatProperties = (slug: Slug): TProperties => ({
  webhook: Optional(
    Text({
      maxLength: 2048,
      description: 'URL that receives messages, http or https. It is a secret and never returned; required at first',
    }),
  ),
  notify_only_broken_pipelines: flag('notify_only_broken_pipelines'),
  ...(serviceKinds[slug].hasChannels &&
    Object.fromEntries(['username', 'channel', ...Object.values(channelOf)].map((name) => [name, oneLineName(name)]))),
})

const mailProperties = (slug: Slug): TProperties => ({
  recipients: Optional(Text({ maxLength: 20_000, description: `${about.recipients}; required at first` })),
  ...(slug === 'emails-on-push'
    ? {
        disable_diffs: flag('disable_diffs'),
        send_from_committer_email: flag('send_from_committer_email'),
      }
    : { notify_only_broken_pipelines: flag('notify_only_broken_pipelines') }),
})

/** What a request says about a service; absent values stay, or have their defaults. Null is no value. */
export type ServiceInput = { readonly [F in ServiceFlag]?: boolean } & {
  readonly [P in keyof Properties]?: Properties[P] | null
} & {
  readonly webhook?: string
  readonly notify_only_default_branch?: boolean
  readonly active?: boolean
}

/** The parameters of a service, of which each slug has its own; others are refused. */
export const serviceParams = (slug: Slug) =>
  Params(
    {
      ...(isChat(slug) ? chatProperties(slug) : mailProperties(slug)),
      branches_to_be_notified: Optional(OneOf(branchSets, { description: about.branches_to_be_notified })),
      notify_only_default_branch: Optional(
        Flag({ deprecated: true, description: 'Same as `branches_to_be_notified` of `default` or `all`' }),
      ),
      active: Optional(
        Flag({
          description: 'Only true, which changes nothing: a service that is set up is active. `DELETE` disables it',
        }),
      ),
      ...Object.fromEntries(
        serviceKinds[slug].flags.map((name) => [name, Optional(Flag({ description: flagDescription(name) }))]),
      ),
    } as TProperties,
    { noOthers: true },
  )
