import { unique, type World } from '../../../../../test/world.ts'
import { accounts } from '../../../../settings/declared/accounts.ts'
import { basic, type Effect, made, newUser, refs, showEffects } from './testing.ts'

/** The status of creating an account with these attributes. */
async function signsUp({ root }: World, attributes: object): Promise<number> {
  const username = unique('new')
  const usual = { username, name: username, email: `${username}@example.com`, password: 'correct horse battery' }
  return (await root.post('/users', { ...usual, ...attributes })).status
}

/** The status of a password grant for the account. */
const grantedBy = async ({ anonymous }: World, username: string) =>
  (await anonymous.post('//oauth/token', { grant_type: 'password', username, password: 'correct horse battery' }))
    .status

showEffects(
  accounts,
  [
    [
      'user_default_external',
      { user_default_external: true },
      async (world) => (await newUser(world)).external,
      false,
      true,
    ],
    [
      'minimum_password_length',
      { minimum_password_length: 20 },
      (world) => signsUp(world, { password: 'correct horse' }),
      201,
      400,
    ],
    [
      'avatar_service_enabled',
      { avatar_service_enabled: false },
      async (world) => typeof (await newUser(world)).avatar_url,
      'string',
      'object',
    ],
    [
      'commit_email_hostname',
      { commit_email_hostname: 'hidden.example' },
      async (world) => {
        const { id } = await world.user()
        const { commit_email } = (await world.root.put(`/users/${id}`, { commit_email: '_private' })).json
        return commit_email.split('@')[1]
      },
      'users.noreply.127.0.0.1',
      'hidden.example',
    ],
    [
      'D2-SETTINGS-PASSWORD-AUTH password_authentication_enabled_for_git',
      { password_authentication_enabled_for_git: false },
      async (world) => {
        const ann = await world.user()
        const project = (await ann.post('/projects', made({}))).json
        return (await world.anonymous.get(refs(project), { headers: basic(ann.username, 'correct horse battery') }))
          .status
      },
      200,
      401,
    ],
    [
      'password_authentication_enabled_for_web',
      { password_authentication_enabled_for_web: false },
      async (world) => {
        const { username } = await world.user()
        return grantedBy(world, username)
      },
      200,
      400,
    ],
    [
      'require_two_factor_authentication',
      { require_two_factor_authentication: true, two_factor_grace_period: 0 },
      async (world) => grantedBy(world, (await world.user()).username),
      200,
      400,
    ],
    [
      'max_personal_access_token_lifetime',
      { max_personal_access_token_lifetime: 10 },
      async (world) => {
        const expires_at = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10)
        const token = { name: 'long', scopes: ['api'], expires_at }
        return (await world.root.post(`/users/${(await world.user()).id}/personal_access_tokens`, token)).status
      },
      201,
      400,
    ],
    ...(
      [
        ['domain_whitelist', { domain_whitelist: ['a.example'] }, 'ann@b.example'],
        [
          'D2-SETTINGS-BLACKLIST domain_blacklist',
          { domain_blacklist_enabled: true, domain_blacklist: ['*.b.example'] },
          'ann@mail.b.example',
        ],
        ['email_restrictions', { email_restrictions_enabled: true, email_restrictions: 'ann@' }, 'ann@b.example'],
      ] as const
    ).map(
      ([what, values, email]): Effect => [
        what,
        values,
        (world) => signsUp(world, { email: unique('x') + email }),
        201,
        400,
      ],
    ),
    [
      'user_default_internal_regex',
      { user_default_external: true, user_default_internal_regex: '^user-' },
      async (world) => {
        const email = `${unique('other')}@example.com`
        const other = await world.user({ email })
        return [(await newUser(world)).external, (await world.root.get(`/users/${other.id}`)).json.external]
      },
      [false, false],
      [false, true],
    ],
    [
      'send_user_confirmation_email',
      { send_user_confirmation_email: true },
      async (world) => {
        const ann = await world.user({ skip_confirmation: false })
        return (await ann.get('/user')).status
      },
      200,
      403,
    ],
    ...(['number', 'uppercase', 'symbol'] as const).map(
      (kind): Effect => [
        `password_${kind}_required`,
        { [`password_${kind}_required`]: true },
        (world) => signsUp(world, { password: 'correcthorsebattery' }),
        201,
        400,
      ],
    ),
  ],
  // Tested elsewhere, because it takes several steps.
  ['password_lowercase_required', 'enforce_terms', 'terms'],
)
