import { describe, expect, test } from 'vitest'
import { event, id, text } from './catalogue/declare.ts'
import { catalogue, declarationOf, type EventName } from './catalogue.ts'
import { emit } from './log.ts'

/** Fields that hold a name, an address or a text in other events. Here they name a setting, a rule, a tag, or a page
 * whose content is read when it is sent: not a person. */
const spelledOut = new Set([
  'award_emoji_given.name',
  'award_emoji_withdrawn.name',
  'feature_forgotten.name',
  'feature_switched.name',
  'ref_protected.name',
  'ref_protection_changed.name',
  'ref_unprotected.name',
  'wiki_page_created.path',
  'wiki_page_deleted.path',
  'wiki_page_updated.path',
])

describe('event catalogue', () => {
  test('event payloads contain no names, addresses or texts', () => {
    const copies = (Object.keys(catalogue) as EventName[])
      .flatMap((kind) => Object.keys(declarationOf(kind).payload).map((field) => `${kind}.${field}`))
      .filter((field) => /\.(name|username|email|login|title|note|message|description|.*path)$/.test(field))
    expect(copies.filter((field) => !spelledOut.has(field))).toEqual([])
  })

  test('unknown events and wrong fields do not compile', () => {
    // The compiler checks this and reports each expected error that does not occur. It is not called.
    const misuse = async (tx: Parameters<typeof emit>[0]): Promise<void> => {
      // @ts-expect-error the catalogue does not declare the event
      await emit(tx, { kind: 'no_such_event', actorId: null, payload: {} })
      // @ts-expect-error a field of the payload is missing
      await emit(tx, { kind: 'fork_linked', projectId: 1, actorId: null, payload: {} })
      // @ts-expect-error a field of the payload is misspelt
      await emit(tx, { kind: 'fork_linked', projectId: 1, actorId: null, payload: { sourceId: 1 } })
      const facts = { full_path: 'a' }
      // @ts-expect-error the event has no payload
      await emit(tx, { kind: 'project_archived', projectId: 1, actorId: null, facts, payload: { a: 1 } })
      // @ts-expect-error the facts are missing
      await emit(tx, { kind: 'project_archived', projectId: 1, actorId: null, payload: {} })
      // @ts-expect-error an event of a project names the project
      await emit(tx, { kind: 'fork_linked', actorId: null, payload: { source_id: 1 } })
      event('The audit row names a field that the event does not have', ['project'], {
        payload: { key_id: id },
        // @ts-expect-error
        audit: { verb: 'add', noun: 'key', target: { type: 'Key', id: 'id_of_key' } },
      })
      event('The audit row takes a text for an id', ['project'], {
        payload: { title: text },
        // @ts-expect-error
        audit: { verb: 'add', noun: 'key', target: { type: 'Key', id: 'title' } },
      })
      // @ts-expect-error an event of a user has a `user_id`
      event('It does not say which user', ['user'], { payload: { key_id: id } })
    }
    expect(misuse).toBeTypeOf('function')
  })
})
