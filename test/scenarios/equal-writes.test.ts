import { expect, test } from 'vitest'
import { newGpgKey } from '../../src/modules/accounts/gpg-keys/testing.ts'
import { newPublicKey } from '../../src/modules/accounts/ssh-keys/testing.ts'
import { codeAt } from '../../src/modules/accounts/two-factor/testing.ts'
import { scene } from '../agreeing-workers.ts'
import { madeBy, passwordOfUsers, twoWorkers, userBy } from '../two-workers.ts'

type Call = readonly [
  method: string,
  path: string,
  body?: object | undefined,
  token?: string | null | undefined,
  headers?: Record<string, string> | undefined,
]

test('of two equal writes, one after the other or in two workers at once, one succeeds, and the other gets the status that says why not', async () => {
  const { workers } = await twoWorkers()
  const [one, other] = workers
  const { ann, P, G } = await scene(one)
  let count = 0
  const name = () => `name${++count}`
  const issue = async () => (await madeBy(one, `${P}/issues`, { title: 'x' })).iid
  const api = (method: string, path: string, body?: object, token?: string): Call => [
    method,
    `/api/v4${path}`,
    body,
    token,
  ]
  const label = () => madeBy(one, `${P}/labels`, { name: name(), color: '#112233' })
  const tokenOf = (grant: object, headers?: Record<string, string>): Call => [
    'POST',
    '/oauth/token',
    grant,
    null,
    headers,
  ]
  const signIn = (username: string) => ({ grant_type: 'password', username, password: passwordOfUsers })
  const secured = async () => {
    const user = await userBy(one, name())
    const { secret } = await madeBy(one, '/user/two_factor', { password: passwordOfUsers }, user.token)
    // Workers have their own clock: the codes of this step and of the next are accepted for half a minute at least.
    const now = Date.now()
    const code = codeAt(secret, now)
    const { recovery_codes } = await madeBy(one, '/user/two_factor/confirm', { code }, user.token)
    return { ...user, code: codeAt(secret, now + 30_000), recovery: recovery_codes[0] }
  }
  const races: readonly (readonly [call: () => Promise<Call> | Call, statuses: readonly number[]])[] = [
    [() => api('POST', '/projects', { name: name() }), [201, 400]],
    [() => api('POST', '/groups', { name: name(), path: `group${count}` }), [201, 400]],
    [() => api('POST', '/users', { ...signIn(name()), name: 'x', email: `${name()}@example.com` }), [201, 409]],
    [() => api('POST', `/users/${ann.id}/emails`, { email: `${name()}@example.com` }), [201, 400]],
    [() => api('POST', '/user/keys', { title: 'x', key: newPublicKey() }), [201, 400]],
    [async () => api('POST', '/user/gpg_keys', { key: await newGpgKey('a@example.com') }), [201, 400]],
    [() => api('POST', '/topics', { name: name(), title: 'x' }), [201, 400]],
    [() => api('POST', `${P}/labels`, { name: name(), color: '#112233' }), [201, 409]],
    [() => api('POST', `${P}/milestones`, { title: name() }), [201, 400]],
    [() => api('POST', `${P}/variables`, { key: name(), value: 'x' }), [201, 400]],
    [() => api('POST', `${P}/environments`, { name: name() }), [201, 400]],
    [() => api('POST', `${P}/protected_branches`, { name: name() }), [201, 409]],
    [() => api('POST', `${P}/protected_tags`, { name: name() }), [201, 409]],
    [() => api('POST', `${P}/releases`, { tag_name: name(), ref: 'main' }), [201, 409]],
    [() => api('POST', `${P}/wikis`, { title: name(), content: 'x' }), [201, 400]],
    [() => api('POST', `${P}/repository/branches`, { branch: name(), ref: 'main' }), [201, 400]],
    [() => api('POST', `${P}/repository/tags`, { tag_name: name(), ref: 'main' }), [201, 400]],
    [async () => api('POST', `${P}/issues/${await issue()}/award_emoji`, { name: 'tada' }), [201, 404]],
    [async () => api('POST', `${P}/issues/${await issue()}/todo`), [201, 304]],
    [async () => api('DELETE', `${P}/issues/${await issue()}`), [204, 404]],
    [async () => api('PUT', `${P}/labels/${(await label()).id}/promote`), [200, 404]],
    [async () => api('DELETE', `${P}/labels/${(await label()).id}`), [204, 404]],
    [async () => api('POST', `/users/${(await userBy(one, name())).id}/follow`), [201, 304]],
    [
      async () => api('POST', `${P}/members`, { user_id: (await userBy(one, name())).id, access_level: 30 }),
      [201, 409],
    ],
    [() => api('PUT', `${P}/approvers`, { approver_ids: [++count % 2 ? ann.id : 1] }), [200, 200]],
    [() => api('PUT', `${P}/custom_attributes/${name()}`, { value: 'x' }), [200, 200]],
    [async () => api('PUT', '/user/status', { message: 'x' }, (await userBy(one, name())).token), [200, 200]],
    [
      async () => {
        const { id } = await madeBy(one, `${G}/access_tokens`, { name: 'x', scopes: ['api'], access_level: 30 })
        return api('POST', `${G}/access_tokens/${id}/rotate`)
      },
      [200, 400],
    ],
    [
      async () => {
        const { username } = await userBy(one, name())
        const { refresh_token } = (await one(...tokenOf(signIn(username)))).json
        return tokenOf({ grant_type: 'refresh_token', refresh_token })
      },
      [200, 400],
    ],
    [
      async () => {
        const { username, code } = await secured()
        return tokenOf(signIn(username), { 'x-service-otp': code })
      },
      [200, 400],
    ],
    [
      async () => {
        const { username, recovery } = await secured()
        return tokenOf(signIn(username), { 'x-service-otp': recovery })
      },
      [200, 400],
    ],
  ]
  for (const [call, statuses] of races) {
    for (let round = 0; round < 3; round++) {
      const made = await call()
      const answers =
        round === 0
          ? [await one(...made), await other(...made)]
          : await Promise.all(round === 1 ? [one(...made), other(...made)] : [other(...made), one(...made)])
      const found = answers.map(({ status }) => status).sort()
      expect(found, `${made.slice(0, 2).join(' ')}: ${JSON.stringify(answers.map(({ json }) => json))}`).toEqual(
        statuses,
      )
    }
  }
})
