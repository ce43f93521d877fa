import type { Flag } from '../hooks/triggers.ts'

/** Branches of whose pushes and pipelines a service is notified. */
export const branchSets = ['all', 'default', 'protected', 'default_and_protected'] as const
export type BranchSet = (typeof branchSets)[number]

export const chatSlugs = ['slack', 'mattermost', 'discord', 'microsoft-teams'] as const
export const mailSlugs = ['emails-on-push', 'pipelines-email'] as const
export const slugs = [...chatSlugs, ...mailSlugs] as const

export type ChatSlug = (typeof chatSlugs)[number]
export type MailSlug = (typeof mailSlugs)[number]
export type Slug = (typeof slugs)[number]

/** The flags of chats, each with the name of the property for its channel. */
export const channelOf = {
  push_events: 'push_channel',
  issues_events: 'issue_channel',
  confidential_issues_events: 'confidential_issue_channel',
  merge_requests_events: 'merge_request_channel',
  note_events: 'note_channel',
  confidential_note_events: 'confidential_note_channel',
  tag_push_events: 'tag_push_channel',
  pipeline_events: 'pipeline_channel',
  wiki_page_events: 'wiki_page_channel',
} as const satisfies { readonly [F in Flag]?: string }

export type ServiceFlag = keyof typeof channelOf
export type ChannelProperty = (typeof channelOf)[ServiceFlag]

export const serviceFlags = Object.keys(channelOf) as readonly ServiceFlag[]
export const channelProperties = Object.values(channelOf)

/** What a service is set to, besides its URL and its flags. */
export type Properties = { readonly [C in ChannelProperty | 'channel' | 'username']?: string } & {
  readonly branches_to_be_notified: BranchSet
  readonly notify_only_broken_pipelines?: boolean
  readonly recipients?: string
  readonly disable_diffs?: boolean
  readonly send_from_committer_email?: boolean
}

export type ServiceKind = {
  readonly title: string
  readonly flags: readonly ServiceFlag[]
  /** The flags that are true unless the request says otherwise. */
  readonly usual: readonly ServiceFlag[]
  /** Values of the properties that a request may leave out. */
  readonly defaults: Properties
  /** Whether the receiver accepts a user name and channels. */
  readonly hasChannels?: true
}

const chat = {
  flags: serviceFlags,
  // What is confidential, a chat receives only on request.
  usual: [
    'push_events',
    'issues_events',
    'merge_requests_events',
    'note_events',
    'tag_push_events',
    'wiki_page_events',
  ],
  defaults: { branches_to_be_notified: 'default', notify_only_broken_pipelines: true },
} as const

export const serviceKinds: Readonly<Record<Slug, ServiceKind>> = {
  slack: { title: 'Slack notifications', ...chat, hasChannels: true },
  mattermost: { title: 'Mattermost notifications', ...chat, hasChannels: true },
  discord: { title: 'Discord notifications', ...chat },
  'microsoft-teams': { title: 'Microsoft Teams notifications', ...chat },
  'emails-on-push': {
    title: 'Emails on push',
    flags: ['push_events', 'tag_push_events'],
    usual: ['push_events', 'tag_push_events'],
    defaults: { branches_to_be_notified: 'all', disable_diffs: false, send_from_committer_email: false },
  },
  'pipelines-email': {
    title: 'Pipeline status emails',
    flags: ['pipeline_events'],
    usual: ['pipeline_events'],
    defaults: { branches_to_be_notified: 'default', notify_only_broken_pipelines: true },
  },
}

export const isChat = (slug: Slug): slug is ChatSlug => (chatSlugs as readonly string[]).includes(slug)
