import { event, flag, id, number, optional, text, texts } from './declare.ts'

const path = { facts: { full_path: text } }
const deployKey = { type: 'DeployKey', id: 'deploy_key_id', name: 'title' } as const
const deployKeyFields = {
  payload: { deploy_key_id: id, can_push: optional(flag), public: optional(flag) },
  facts: { title: optional(text) },
}

const pushMirror = {
  payload: { push_mirror_id: id },
  facts: { url: text },
} as const
const mirrorTarget = { type: 'PushMirror', id: 'push_mirror_id', name: 'url' } as const

/** Events of projects, of their forks and imports, and of topics. */
export const projectEvents = {
  project_created: event('A project is created', ['project'], {
    facts: { name: text, full_path: text, visibility: text },
    audit: { verb: 'add', noun: 'project' },
    feed: { action: 'created' },
  }),
  project_renamed: event('The path of a project changes', ['project'], {
    facts: { old_full_path: text, full_path: text },
  }),
  project_updated: event('The attributes of a project change', ['project'], {
    payload: { changed: texts, from_visibility: optional(text), visibility: optional(text) },
    facts: { old_full_path: optional(text), full_path: optional(text) },
    audit: { verb: 'change', noun: 'project_settings' },
  }),
  project_archived: event('A project is archived', ['project'], {
    ...path,
    audit: { verb: 'change', noun: 'archived' },
  }),
  project_unarchived: event('A project is no longer archived', ['project'], {
    ...path,
    audit: { verb: 'change', noun: 'archived' },
  }),
  project_transferred: event('A project moves to another namespace', ['project'], {
    facts: { old_full_path: text, full_path: text },
    audit: { verb: 'change', noun: 'namespace' },
  }),
  project_marked_for_deletion: event('A project is marked for deletion', ['project'], {
    ...path,
    audit: { verb: 'change', noun: 'marked_for_deletion', path: 'full_path' },
  }),
  project_restored: event('A project that is marked for deletion is restored', ['project'], {
    ...path,
    audit: { verb: 'change', noun: 'marked_for_deletion' },
  }),
  project_deleted: event('A project is deleted; a job removes its repository and rows', ['project'], {
    // Absent in older events.
    payload: { namespace_id: optional(id), visibility: optional(number) },
    ...path,
    audit: { verb: 'remove', noun: 'project', path: 'full_path' },
  }),
  project_forked: event('A project is created as a fork', ['project'], { payload: { source_id: id } }),
  fork_linked: event('A project becomes a fork of another', ['project'], { payload: { source_id: id } }),
  fork_unlinked: event('A project is no longer a fork', ['project'], { payload: { source_id: id } }),
  project_imported: event('The import or fork of a repository succeeds', ['project'], {
    payload: { ref_count: number },
  }),
  project_import_failed: event('The import or fork of a repository fails', ['project'], {}),
  pull_mirror_stopped: event('A pull mirror stops, because too many updates failed in a row', ['project'], {
    payload: { failures: number },
  }),
  push_mirror_created: event('A push mirror of a project is created', ['project'], {
    ...pushMirror,
    audit: { verb: 'add', noun: 'push_mirror', target: mirrorTarget },
  }),
  push_mirror_updated: event('A push mirror changes', ['project'], {
    ...pushMirror,
    audit: { verb: 'change', noun: 'push_mirror', target: mirrorTarget },
  }),
  push_mirror_deleted: event('A push mirror is deleted', ['project'], {
    ...pushMirror,
    audit: { verb: 'remove', noun: 'push_mirror', target: mirrorTarget },
  }),
  push_mirror_stopped: event('A push mirror is not retried, because too many updates failed in a row', ['project'], {
    payload: { push_mirror_id: id, failures: number },
  }),

  deploy_key_added: event('A deploy key is added to a project or to the installation', ['project', 'instance'], {
    ...deployKeyFields,
    audit: { verb: 'add', noun: 'deploy_key', target: deployKey },
  }),
  deploy_key_enabled: event('A project enables a deploy key that exists', ['project'], {
    ...deployKeyFields,
    audit: { verb: 'add', noun: 'deploy_key', target: deployKey },
  }),
  deploy_key_updated: event('A deploy key changes', ['project'], {
    ...deployKeyFields,
    audit: { verb: 'change', noun: 'deploy_key', target: deployKey },
  }),
  deploy_key_removed: event('A project or the installation loses a deploy key', ['project', 'instance'], {
    ...deployKeyFields,
    audit: { verb: 'remove', noun: 'deploy_key', target: deployKey },
  }),
  upload_deleted: event('An upload is deleted', ['project'], { payload: { upload_id: id } }),

  topic_created: event('An administrator creates a topic; those that projects name exist without it', ['instance'], {
    payload: { topic_id: id },
  }),
  topic_updated: event('A topic changes', ['instance'], { payload: { topic_id: id } }),
  topic_deleted: event('A topic is deleted', ['instance'], { payload: { topic_id: id } }),
  topic_merged: event('A topic takes the place of another', ['instance'], {
    payload: { topic_id: id, merged_topic_id: id },
  }),
}
