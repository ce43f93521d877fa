import { event, id, text } from './declare.ts'

const anywhere = ['project', 'group', 'instance'] as const
/** Scheme and host only: the rest of a URL may contain secrets. */
const hook = { payload: { hook_id: id }, facts: { origin: text } }
const target = { type: 'Hook', id: 'hook_id', name: 'origin' } as const

/** Events of what connects the service with others. */
export const integrationEvents = {
  hook_created: event('A hook of a project, a group or the installation is created', anywhere, {
    ...hook,
    audit: { verb: 'add', noun: 'hook', target },
  }),
  hook_updated: event('A hook changes', anywhere, { ...hook, audit: { verb: 'change', noun: 'hook', target } }),
  hook_deleted: event('A hook is deleted', anywhere, { ...hook, audit: { verb: 'remove', noun: 'hook', target } }),
}
