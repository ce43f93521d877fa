import { expect } from 'vitest'
import { test } from '../../test/world.ts'
import type { SettingSchema } from './declared/schema.ts'
import { declared } from './settings.ts'

/** Words by which a setting promises a restriction. */
const restricting =
  /allow|limit|max|largest|most|only|restrict|block|den(y|ied)|forbid|protect|require|must|may\b|disab|private|visib|captcha|spam|authori[sz]|verif|lasts|expire|again|proxy|plan\b/i

/** Settings with such a word that restrict nothing. */
const harmless = [
  // Credentials and addresses of services that are not used while their flag is off.
  'captcha_private_key',
  'captcha_site_key',
  'external_auth_client_cert',
  'external_auth_client_key',
  'external_auth_client_key_pass',
  'external_authorization_service_default_label',
  'external_authorization_service_timeout',
  'external_authorization_service_url',
  'search_engine_url',
  'spam_filter_api_key',
  // Switches and schedules of parts that restrict nothing.
  'authorized_keys_enabled',
  'chat_app_enabled',
  'chat_app_verification_token',
  'polling_interval_multiplier',
  // There are no sessions that could outlive it.
  'session_expire_delay',
]

test('every setting without effect whose text promises a restriction declares it', () => {
  const undeclared = declared
    .filter(([name, { without, guards, description, alias }]) => {
      const promises = restricting.test(`${name.replaceAll('_', ' ')} ${alias ?? ''} ${description}`)
      return without !== undefined && guards === undefined && promises && !harmless.includes(name)
    })
    .map(([name, { description }]) => `${name}: ${description}`)
  expect(undeclared).toEqual([])
})

/** A value that is not the default. */
const other = ({ default: value, type }: SettingSchema): unknown => {
  if (type === 'boolean') return !value
  throw new Error(`there is no other value of type ${type} in this test`)
}

const guards = declared.filter(([, schema]) => schema.guards === 'there')

test.for(guards)('400 when %s is set, which would restrict nothing', async ([name, schema], { world }) => {
  const companions = Object.fromEntries(
    [...new Set([...(schema.sentWith ?? []), ...(schema.needs ?? [])])].map((each) => [each, companionValue(each)]),
  )
  await world.settings({})
  expect(await world.root.put('/application/settings', { ...companions, [name]: other(schema) })).toMatchObject({
    status: 400,
    json: { message: { [name]: [`is not supported: this product does not have ${schema.without}`] } },
  })
  expect((await world.root.get('/application/settings')).json[name]).toBe(schema.default)
  expect((await world.root.put('/application/settings', { ...companions, [name]: schema.default })).status).toBe(200)
})

/** A valid value of a required companion setting. */
const companionValue = (name: string): unknown =>
  name.endsWith('_url') ? 'https://service.example' : name.endsWith('_timeout') ? 0.5 : 'value'
