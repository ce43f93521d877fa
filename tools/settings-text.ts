import { fileURLToPath } from 'node:url'
import type { SettingSchema } from '../src/settings/declared/schema.ts'
import { topics } from '../src/settings/settings.ts'

export const settingsFile = fileURLToPath(new URL('../docs/settings.md', import.meta.url))

const titles: Readonly<Record<keyof typeof topics, string>> = {
  creation: 'Creation and deletion',
  accounts: 'Accounts',
  git: 'Git',
  housekeeping: 'Housekeeping',
  outbound: 'Imports and outbound requests',
  sizes: 'Sizes and lifetimes',
  throttles: 'Rate limits',
  display: 'Pages and mails',
  integrations: 'Integrations',
}

const introduction = [
  '# Application settings',
  '',
  'Generated from `src/settings/declared/` by `npm run settings`; make corrections there.',
  '',
  'Administrators read them with `GET /api/v4/application/settings` and change them with PUT. A change takes effect in every',
  'process within a second; if any part of a request is invalid, nothing changes. Lists may be sent as comma-separated text.',
  '',
  '- *No effect yet*: the value is stored and returned to clients but has no effect, because the product lacks the feature.',
  '- *Rejected yet*: the setting restricts a feature that the product has, and the restriction is not implemented. Values other',
  '  than the default get a 400.',
  '- Names in parentheses are aliases that GitLab clients know: both names are accepted and returned.',
  '- Secrets are encrypted in the database; those marked *never returned* can only be replaced.',
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
      : [`*${guards === 'there' ? 'Rejected yet' : 'No effect yet'}*: requires ${without}.`]),
    ...(beside === '' ? [] : [`To enable it, send ${beside} in the same request.`]),
    ...(set === '' ? [] : [`Requires ${set}.`]),
    ...(secret === undefined ? [] : [secret === 'hidden' ? 'Secret, never returned.' : 'Secret.']),
    ...(tier === undefined ? [] : [`Requires the ${tier} plan.`]),
  ].join(' ')
}

const row = (name: string, schema: SettingSchema): string => {
  const alias = schema.alias === undefined ? '' : ` (${code(schema.alias)})`
  return `| ${code(name)}${alias} | ${shown(schema.default)} | ${effect(schema)} |`
}

/** The page of all settings, by topic. */
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
