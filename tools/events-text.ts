import { fileURLToPath } from 'node:url'
import type { TProperties, TSchema } from 'typebox'
import type { Audited, EventDeclaration } from '../src/events/catalogue/declare.ts'
import { catalogue, declarationOf, type EventName } from '../src/events/catalogue.ts'
import { reactions } from '../src/reactions.ts'

export const eventsFile = fileURLToPath(new URL('../docs/events.md', import.meta.url))

const introduction = `# Events

Generated from \`src/events/catalogue/\` by \`npm run events\`; correct errors there.

Code that changes something calls \`emit(tx, event)\` in the transaction of the change. That writes the event to the log, its audit row, and its
line in activity lists, and runs the reactions to it (\`src/reactions.ts\`). An event that the catalogue does not declare, and a payload
with a missing or unknown field, do not compile.

- **Payload**: the ids of the rows that the event is about, and what cannot be read from them later. The log (table \`events\`) stores it with
  the project or group, the actor and the time, and nothing else. \`readEvents\` (\`src/events/log.ts\`) reads the log in an order
  that misses no event.
- **Facts**: names, addresses and texts for reactions and the audit row. The log does not store them.
- **Audit**: what \`GET /audit_events\` shows of it, with payload and facts under \`facts\`.

Retention: the log has an event for \`event_retention_days\` days (a setting, 30 by default). The deletion of a project, group or user deletes the
events about it, except the event of the deletion itself and ends of memberships; events of which a deleted user was the actor have no
actor from then on. Audit rows last for \`audit_event_retention_days\` days (0, the default, for ever) and are never changed. Lines of activity last as long as their project and author.
`

type Described = TSchema & { readonly type?: string; readonly anyOf?: readonly Described[]; readonly items?: Described }

function typeText({ type, anyOf, items }: Described): string {
  if (anyOf) return anyOf.map(typeText).join(' or ')
  if (type === 'array') return `list of ${items ? typeText(items) : 'anything'}`
  return type ?? 'anything'
}

const fieldsText = (fields: TProperties): string =>
  Object.entries(fields)
    .map(([name, schema]) => `\`${name}\`${'~optional' in schema ? '?' : ''}: ${typeText(schema)}`)
    .join(', ') || 'none'

const auditText = ({ verb, noun, target, unless }: Audited): string =>
  `${verb} \`${noun}\`${target ? ` of target ${target.type}` : ''}${unless ? `, unless ${unless.map((name) => `\`${name}\``).join(' or ')}` : ''}`

function eventText(name: EventName, { when, of, payload, facts, audit, feed }: EventDeclaration): string {
  const count = reactions[name]?.length ?? 0
  return [
    `### ${name}`,
    '',
    `${when}. In: ${of.join(', ')}.`,
    '',
    `- Payload: ${fieldsText(payload)}`,
    ...(Object.keys(facts).length > 0 ? [`- Facts: ${fieldsText(facts)}`] : []),
    ...(audit ? [`- Audit: ${auditText(audit)}`] : []),
    ...(feed
      ? [`- Activity: ${feed === 'lines' ? 'one line for each ref, or for many alike' : `\`${feed.action}\``}`]
      : []),
    ...(count > 0 ? [`- Reactions: ${count}`] : []),
    '',
  ].join('\n')
}

/** The text of docs/events.md. */
export const eventsText = (): string =>
  [
    introduction,
    '## All events',
    '',
    ...(Object.keys(catalogue) as EventName[]).sort().map((name) => eventText(name, declarationOf(name))),
  ].join('\n')
