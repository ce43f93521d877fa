import { type TProperties, Type } from 'typebox'
import { event, id, text, texts } from './declare.ts'

const feature = { type: 'Feature', name: 'name' } as const
const message = { type: 'BroadcastMessage', id: 'broadcast_message_id' } as const
const broadcast = { payload: { broadcast_message_id: id }, facts: { message: text } }

/** The new value of each setting by name; for a secret, only whether it is set. */
const valuesByName: TProperties = {}

/** Events of the installation. */
export const administrationEvents = {
  settings_updated: event('Settings of the installation change', ['instance'], {
    payload: { changed: texts },
    facts: valuesByName,
    audit: { verb: 'change', noun: 'application_settings' },
  }),
  feature_switched: event('A feature is switched', ['instance'], {
    payload: { name: text },
    facts: { gates: Type.Unsafe<object>(Type.Object({})) },
    audit: { verb: 'change', noun: 'feature', target: feature },
  }),
  feature_forgotten: event('A feature is as if it was never switched', ['instance'], {
    payload: { name: text },
    audit: { verb: 'remove', noun: 'feature', target: feature },
  }),
  appearance_updated: event('The appearance of the installation changes', ['instance'], {
    payload: { changed: texts },
    audit: { verb: 'change', noun: 'appearance' },
  }),
  broadcast_message_created: event('A broadcast message is created', ['instance'], {
    ...broadcast,
    audit: { verb: 'add', noun: 'broadcast_message', target: message },
  }),
  broadcast_message_updated: event('A broadcast message changes', ['instance'], {
    ...broadcast,
    audit: { verb: 'change', noun: 'broadcast_message', target: message },
  }),
  broadcast_message_deleted: event('A broadcast message is deleted', ['instance'], {
    ...broadcast,
    audit: { verb: 'remove', noun: 'broadcast_message', target: message },
  }),
}
