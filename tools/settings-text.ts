import { fileURLToPath } from 'node:url'
import type { SettingSchema } from '../src/settings/schema.ts'
import { topics } from '../src/settings/settings.ts'

export const settingsFile = fileURLToPath(new URL('../docs/settings.md', import.meta.url))

const titles: Readonly<Record<keyof typeof topics, string>> = {
  creation: 'What is made, and what goes',
  accounts: 'Accounts',
  git: 'Git',
  housekeeping: 'Housekeeping',
  outbound: 'Imports and requests that leave the house',
  sizes: 'Sizes and times',
  throttles: 'How often somebody may ask',
  display: 'Pages and mails',
  integrations: 'Services beside ours',
}

const introduction = [
  '# Settings of the installation',
  '',
  'Generated from `src/settings/declared/` by `npm run settings`; what is wrong here is wrong there.',
  '',
  'Administrators read them with `GET /api/v4/application/settings` and change some with PUT. A change holds in every',
  'process within a second; when any part of a request is refused, nothing changes. Lists may be sent as text with commas.',
  'What reads *nothing yet* is kept and told to clients, and does nothing, because the product does not have what it is',
  'about. What reads *refused yet* would restrict something that the product has, and nothing does: other values than the default',
  'get a 400. Names in brackets are those that clients of GitLab know: both are taken and shown. Secrets are sealed in the',
  'database; those marked *never shown* can only be replaced.',
  '',
].join('\n')

const code = (name: string): string => `\`${name}\``

const shown = (value: unknown): string =>
  value === null || (Array.isArray(value) && value.length === 0) ? 'none' : code(valueText(value))

const valueText = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

function effect({ description, without, guards, tier, sentWith = [], needs = [], secret }: SettingSchema): string {
  const beside = sentWith.map(code).join(', ')
  const set = needs
    .filter((name) => !sentWith.includes(name))
    .map(code)
    .join(', ')
  return [
    sentence(description),
    ...(without === undefined
      ? []
      : [`*${guards === 'there' ? 'Refused yet' : 'Nothing yet'}*, for want of ${without}.`]),
    ...(beside === '' ? [] : [`Switched on only together with ${beside}.`]),
    ...(set === '' ? [] : [`Needs ${set}.`]),
    ...(secret === undefined ? [] : [secret === 'hidden' ? 'A secret, never shown.' : 'A secret.']),
    ...(tier === undefined ? [] : [`From the plan ${tier} on.`]),
  ].join(' ')
}

const row = (name: string, schema: SettingSchema): string => {
  const alias = schema.alias === undefined ? '' : ` (${code(schema.alias)})`
  return `| ${code(name)}${alias} | ${shown(schema.default)} | ${effect(schema)} |`
}

/** What every setting does, by topic. */
export const settingsText = (): string =>
  [
    introduction,
    ...Object.entries(topics).map(([topic, settings]) =>
      [
        `## ${titles[topic as keyof typeof topics]}`,
        '',
        '| Setting | Default | What it does |',
        '|---|---|---|',
        ...Object.entries(settings).map(([name, schema]) => row(name, schema as unknown as SettingSchema)),
        '',
      ].join('\n'),
    ),
  ].join('\n')
