import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { HookRow } from './queries.ts'
import { type Flag, flagsOf, type HookKind } from './triggers.ts'

const received: Readonly<Record<Flag, string>> = {
  push_events: 'Receives pushes to branches',
  tag_push_events: 'Receives pushes to tags',
  issues_events: 'Receives changes of issues that are not confidential',
  confidential_issues_events: 'Receives changes of confidential issues',
  note_events: 'Receives comments, except those on confidential issues',
  confidential_note_events: 'Receives comments on confidential issues',
  merge_requests_events: 'Receives changes of merge requests',
  job_events: 'Receives changed statuses of jobs',
  pipeline_events: 'Receives changed statuses of pipelines',
  wiki_page_events: 'Receives changes of wiki pages',
  releases_events: 'Receives changes of releases',
  repository_update_events: 'Receives pushes as a whole, with all changed refs',
  member_events: 'Receives changes of the members of the group',
  subgroup_events: 'Receives the creation and deletion of subgroups',
}

/** Description of the flag as a parameter. */
export const flagDescription = (flag: Flag): string => received[flag].replace('Receives', 'Send')

/** Whether a receiver is paused. */
export const pauseFields = {
  alert_status: Type.String({
    enum: ['executable', 'temporarily_disabled'],
    description: '`temporarily_disabled`: too many requests in a row failed; events wait until `disabled_until`',
  }),
  disabled_until: nullable(timestamp(), { description: 'Time of the next attempt; null if it is not paused' }),
}

export const pauseOf = ({ paused_until }: Pick<HookRow, 'paused_until'>) => ({
  alert_status: paused_until === null ? 'executable' : 'temporarily_disabled',
  disabled_until: paused_until,
})

const common = {
  id: Type.Integer({ description: 'ID of the hook' }),
  url: Type.String({ description: 'Receiver, with asterisks for user name and password' }),
  created_at: timestamp('Time at which the hook was created'),
  enable_ssl_verification: Type.Boolean({ description: 'False if the certificate of the receiver is not verified' }),
  ...pauseFields,
}

const branchFilter = {
  push_events_branch_filter: Type.String({
    description: 'Pattern of the branches whose pushes it receives, in which `*` matches any text; empty for all',
  }),
}

export const flagSchemas = <F extends Flag>(names: readonly F[]) =>
  Object.fromEntries(names.map((name) => [name, Type.Boolean({ description: received[name] })])) as Record<
    F,
    ReturnType<typeof Type.Boolean>
  >

const commonOf = (hook: HookRow) => ({
  id: hook.id,
  url: hook.shown_url,
  created_at: hook.created_at,
  enable_ssl_verification: hook.enable_ssl_verification,
  ...pauseOf(hook),
})

const flagsIn = ({ triggers }: HookRow, kind: HookKind) =>
  Object.fromEntries(flagsOf[kind].map((flag) => [flag, triggers.includes(flag)])) as Record<Flag, boolean>

export const ProjectHook = entity({
  name: 'ProjectHook',
  schema: Type.Object({
    ...common,
    project_id: Type.Integer({ description: 'ID of the project' }),
    ...flagSchemas(flagsOf.project),
    ...branchFilter,
  }),
  present: (hook: HookRow) => ({
    ...commonOf(hook),
    project_id: hook.project_id!,
    ...flagsIn(hook, 'project'),
    push_events_branch_filter: hook.branch_filter,
  }),
})

export const GroupHook = entity({
  name: 'GroupHook',
  schema: Type.Object({
    ...common,
    group_id: Type.Integer({ description: 'ID of the group' }),
    ...flagSchemas(flagsOf.group),
    ...branchFilter,
  }),
  present: (hook: HookRow) => ({
    ...commonOf(hook),
    group_id: hook.namespace_id!,
    ...flagsIn(hook, 'group'),
    push_events_branch_filter: hook.branch_filter,
  }),
})

export const SystemHook = entity({
  name: 'SystemHook',
  schema: Type.Object({ ...common, ...flagSchemas(flagsOf.system), ...branchFilter }),
  present: (hook: HookRow) => ({
    ...commonOf(hook),
    ...flagsIn(hook, 'system'),
    push_events_branch_filter: hook.branch_filter,
  }),
})
