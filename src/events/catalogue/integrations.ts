import { event, id, text } from './declare.ts'

const anywhere = ['project', 'group', 'instance'] as const
/** Scheme and host only: the rest of a URL may contain secrets. */
const hook = { payload: { hook_id: id }, facts: { origin: text } }
const service = { payload: { service_id: id, slug: text } }
const target = { type: 'Hook', id: 'hook_id', name: 'origin' } as const

const serviceTarget = { type: 'Service', id: 'service_id', name: 'slug' } as const

/** Events of what connects the service with others. */
export const integrationEvents = {
  hook_created: event('A hook of a project, a group or the installation is created', anywhere, {
    ...hook,
    audit: { verb: 'add', noun: 'hook', target },
  }),
  hook_updated: event('A hook changes', anywhere, { ...hook, audit: { verb: 'change', noun: 'hook', target } }),
  hook_deleted: event('A hook is deleted', anywhere, { ...hook, audit: { verb: 'remove', noun: 'hook', target } }),
  service_enabled: event('An integration of a project is enabled', ['project'], {
    ...service,
    audit: { verb: 'add', noun: 'service', target: serviceTarget },
  }),
  service_updated: event('An integration of a project changes', ['project'], {
    ...service,
    audit: { verb: 'change', noun: 'service', target: serviceTarget },
  }),
  service_disabled: event('An integration of a project is disabled', ['project'], {
    ...service,
    audit: { verb: 'remove', noun: 'service', target: serviceTarget },
  }),
}
