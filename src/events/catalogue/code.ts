import { Type } from 'typebox'
import type { Oid } from '../../git/format/oid.ts'
import type { ChangedFile } from '../../git/history/changes.ts'
import { event, flag, id, number, text, texts } from './declare.ts'

const ref = { type: 'ProtectedRef', name: 'name' } as const
const protection = { payload: { ref_kind: text, name: text } }
const oid = Type.Unsafe<Oid>(Type.String())
/** By namespace, as webhooks show them; `push_id` leads to the texts that the client sent. */
const pushOptions = Type.Unsafe<{ readonly ci?: object; readonly merge_request?: object }>(Type.Object({}))
/** How the default branch moved; null if it did not. */
const mainChange = Type.Unsafe<MainChange | null>(Type.Union([Type.Object({}), Type.Null()]))
const environment = { payload: { environment_id: id } }
const releaseLinks = Type.Unsafe<readonly ReleaseLink[]>(Type.Array(Type.Object({})))
const previous = Type.Unsafe<string | null>(Type.Union([Type.String(), Type.Null()]))

type ReleaseLink = { readonly id: number; readonly name: string; readonly url: string; readonly link_type: string }

/** A move of the default branch of a side repository, with the files that it changes. */
export type MainChange = {
  readonly from: Oid | null
  readonly to: Oid
  /** Of the commit at the new tip. */
  readonly message: string
  readonly files: readonly ChangedFile[]
  /** There are more files. */
  readonly truncated: boolean
}

/** Events of repositories: pushes, protection, large files, pipelines, deployments, releases. */
export const codeEvents = {
  pushed: event('Refs of a repository have moved, by whatever transport', ['project'], {
    payload: { push_id: id, ref_count: number, default_branch_moved: flag },
    facts: { push_options: pushOptions },
    feed: 'lines',
  }),
  side_repository_changed: event(
    'Refs of the repository of a wiki or snippet have moved',
    ['project', 'group', 'instance'],
    {
      payload: { side_repository_id: id, push_id: id, ref_count: number },
      facts: { holder_kind: text, holder_id: id, main: mainChange },
    },
  ),
  ref_protected: event('A user protects a branch or tag; the first branch is protected without it', ['project'], {
    ...protection,
    audit: { verb: 'add', noun: 'protection', target: ref },
  }),
  ref_protection_changed: event('The protection of a branch or tag changes', ['project'], {
    ...protection,
    audit: { verb: 'change', noun: 'protection', target: ref },
  }),
  ref_unprotected: event('A branch or tag is no longer protected', ['project'], {
    ...protection,
    audit: { verb: 'remove', noun: 'protection', target: ref },
  }),
  push_rule_created: event(
    'A project, a group or the installation gets a push rule, not as a copy in a new project',
    ['project', 'group', 'instance'],
    {
      payload: { push_rule_id: id },
      audit: { verb: 'add', noun: 'push_rule' },
    },
  ),
  push_rule_updated: event('A push rule changes', ['project', 'group', 'instance'], {
    payload: { push_rule_id: id, changed: texts },
    audit: { verb: 'change', noun: 'push_rule' },
  }),
  push_rule_deleted: event(
    'A project, a group or the installation loses its push rule',
    ['project', 'group', 'instance'],
    {
      payload: { push_rule_id: id },
      audit: { verb: 'remove', noun: 'push_rule' },
    },
  ),
  large_file_stored: event('A large file is stored', ['project'], { payload: { oid: text, size: number } }),
  file_locked: event('A file is locked', ['project'], { payload: { lock_id: id } }),
  file_unlocked: event('A file is unlocked', ['project'], { payload: { lock_id: id, owner_id: id } }),

  pipeline_changed: event('The status of a pipeline changes', ['project'], {
    payload: { pipeline_id: id, sha: oid, status: text, previous_status: text },
  }),
  commit_status_changed: event('A commit gets a status, or it changes', ['project'], {
    payload: { status_id: id, pipeline_id: id, sha: oid, status: text, previous_status: previous },
  }),
  environment_created: event('An environment is created', ['project'], environment),
  environment_updated: event('An environment changes', ['project'], environment),
  environment_stopped: event('An environment is stopped', ['project'], environment),
  environment_deleted: event('An environment is deleted', ['project'], environment),
  deployment_created: event('A deployment is reported', ['project'], {
    payload: { deployment_id: id, environment_id: id, status: text },
  }),
  deployment_status_changed: event('The status of a deployment changes', ['project'], {
    payload: { deployment_id: id, environment_id: id, status: text, previous_status: text },
  }),
  deployment_deleted: event('A deployment is deleted', ['project'], {
    payload: { deployment_id: id, environment_id: id },
  }),
  release_created: event('A release is created', ['project'], { payload: { tag: text } }),
  release_updated: event('A release changes', ['project'], { payload: { tag: text } }),
  release_deleted: event('A release is deleted', ['project'], {
    payload: { tag: text },
    facts: {
      release_id: id,
      name: previous,
      description: text,
      created_at: text,
      released_at: text,
      links: releaseLinks,
    },
  }),
}
