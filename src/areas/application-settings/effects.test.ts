import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, FormData, request } from 'undici'
import { describe, expect } from 'vitest'
import { type Client, git, type TestProject, temporaryFolder, test, unique, type World } from '../../../test/world.ts'
import { repositoriesDir } from '../../app.ts'
import { declared } from '../../settings/settings.ts'
import { deliverMail } from '../mails/jobs.ts'
import { insertMail } from '../mails/queries.ts'
import { newPublicKey } from '../ssh-keys/testing.ts'

/** What somebody sees who looks from outside. */
type Look = (world: World) => Promise<unknown>

/** A setting, what it is changed to, and what is seen before and after. */
type Effect = readonly [what: string, values: Record<string, unknown>, look: Look, before: unknown, after: unknown]

const made = (attributes: Record<string, unknown> = {}) => ({ name: unique('made'), ...attributes })
const newProject = async ({ root }: World, attributes = {}) => (await root.post('/projects', made(attributes))).json
const newGroup = async ({ root }: World) => {
  const path = unique('made')
  return (await root.post('/groups', { name: path, path })).json
}
/** A group whose id is known beforehand, so that a setting can name it. */
async function groupNumbered(world: World, id: number): Promise<{ id: number }> {
  const known = await world.root.get(`/groups/${id}`)
  if (known.status === 200) return known.json
  await world.rows(`select setval(pg_get_serial_sequence('namespaces', 'id'), $1, false)`, [id])
  return newGroup(world)
}
const newUser = async (world: World) => (await world.root.get(`/users/${(await world.user()).id}`)).json

/** Statuses of requests one after the other. */
async function statuses(times: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let i = 0; i < times; i++) seen.push((await ask()).status)
  return seen
}

const refs = (project: { path_with_namespace: string }) =>
  `//${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

/** Whether somebody gets an account with these attributes. */
async function signsUp({ root }: World, attributes: object): Promise<number> {
  const username = unique('new')
  const usual = { username, name: username, email: `${username}@example.com`, password: 'correct horse battery' }
  return (await root.post('/users', { ...usual, ...attributes })).status
}

/** What the password of an account is answered with. */
const grantedBy = async ({ anonymous }: World, username: string) =>
  (await anonymous.post('//oauth/token', { grant_type: 'password', username, password: 'correct horse battery' }))
    .status

/** A project, and whether a push of a file of so many bytes to these branches got through. */
async function push(world: World, bytes: number, branches: readonly string[] = ['main']) {
  const project = await world.project()
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await writeFile(join(folder.path, 'file'), randomBytes(bytes))
  await git(folder.path, 'add', '.')
  await git(folder.path, 'commit', '-q', '-m', 'One file')
  const refs = branches.map((branch) => `HEAD:refs/heads/${branch}`)
  const went = await git(folder.path, 'push', '-q', world.remote(project, world.root), ...refs).then(
    () => true,
    () => false,
  )
  return { project, went }
}

/** Whether an upload of so many bytes is kept. */
const upload = async (world: World, bytes: number) => {
  const { id } = await newProject(world)
  const body = new FormData()
  body.set('file', new Blob([Buffer.alloc(bytes)]), 'file.bin')
  return 'full_path' in (await world.root.send('POST', `/projects/${id}/uploads`, { body })).json
}

const lfsBatch = async (world: World, size: number, project?: { path_with_namespace: string }) => {
  const { path_with_namespace } = project ?? (await newProject(world))
  const answer = await world.root.send('POST', `//${path_with_namespace}.git/info/lfs/objects/batch`, {
    headers: { ...basic('root', world.root.token!), 'content-type': 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size }] }),
  })
  return answer.status === 200 ? (JSON.parse(answer.text).objects[0].error?.code ?? 200) : answer.status
}

const importStatus = async (world: World, url: string) =>
  (await world.root.post('/projects', made({ import_url: url }))).status

/** What stands in a mail that goes out. */
async function mailed(world: World): Promise<string> {
  const ctx = await world.app.open(null)
  const mailId = await ctx.transaction((tx) => insertMail(tx, { to: 'a@b.example', subject: 'x', body: 'Hello.\n' }))
  let told = ''
  const send = async ({ body }: { body: string }) => {
    told = body
  }
  await deliverMail.run({ mailId }, { ...ctx, mailer: { send } })
  return told
}

const writesCommit = async (world: World, project: { id: number; default_branch: string }) =>
  (
    await world.root.post(`/projects/${project.id}/repository/commits`, {
      branch: project.default_branch,
      commit_message: 'More',
      actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
    })
  ).status

/** Statuses of one request from each of these addresses of this host. */
const fromAddresses = async (world: World, who: Client, addresses: readonly string[]) => {
  const seen: number[] = []
  for (const address of addresses) {
    const answer = await request(`${world.origin}/api/v4/user`, {
      dispatcher: new Agent(),
      headers: { 'private-token': who.token!, 'x-forwarded-for': address },
    })
    await answer.body.dump()
    seen.push(answer.statusCode)
  }
  return seen
}

const effects: readonly Effect[] = [
  // What is made, and what goes.
  [
    'D2-SETTINGS-DEFAULT-VISIBILITY default_project_visibility',
    { default_project_visibility: 'internal' },
    async (world) => (await newProject(world)).visibility,
    'private',
    'internal',
  ],
  [
    'default_group_visibility',
    { default_group_visibility: 'public' },
    async (world) => (await newGroup(world)).visibility,
    'private',
    'public',
  ],
  [
    'restricted_visibility_levels',
    { restricted_visibility_levels: ['public'] },
    async (world) => (await (await world.user()).post('/projects', made({ visibility: 'public' }))).status,
    201,
    400,
  ],
  [
    'D2-SETTINGS-PROJECTS-LIMIT default_projects_limit',
    { default_projects_limit: 3 },
    async (world) => (await newUser(world)).projects_limit,
    100_000,
    3,
  ],
  [
    'D2-SETTINGS-PROJECT-CREATION default_project_creation',
    { default_project_creation: 0 },
    async (world) => (await newGroup(world)).project_creation_level,
    'developer',
    'noone',
  ],
  [
    'D2-SETTINGS-BRANCH-PROTECTION default_branch_protection',
    { default_branch_protection: 0 },
    async (world) => {
      const { id } = await newProject(world, { initialize_with_readme: true })
      return (await world.root.get(`/projects/${id}/protected_branches`)).json.length
    },
    1,
    0,
  ],
  [
    'default_project_deletion_protection',
    { default_project_deletion_protection: true },
    async (world) => {
      const ann = await world.user()
      const { id } = (await ann.post('/projects', made())).json
      return (await ann.delete(`/projects/${id}`)).status
    },
    202,
    403,
  ],
  [
    'deletion_adjourned_period',
    { deletion_adjourned_period: 0 },
    async (world) => {
      const { id } = await world.project()
      await world.root.delete(`/projects/${id}`)
      return (await world.root.get(`/projects/${id}`)).status
    },
    200,
    404,
  ],
  [
    'protected_ci_variables',
    { protected_ci_variables: true },
    async (world) => {
      const { id } = await newProject(world)
      return (await world.root.post(`/projects/${id}/variables`, { key: 'A', value: 'b' })).json.protected
    },
    false,
    true,
  ],
  [
    'shared_runners_enabled',
    { shared_runners_enabled: false },
    async (world) => (await newProject(world)).shared_runners_enabled,
    true,
    false,
  ],
  [
    'auto_devops_enabled',
    { auto_devops_enabled: false },
    async (world) => (await newProject(world)).auto_devops_enabled,
    true,
    false,
  ],
  [
    'default_ci_config_path',
    { default_ci_config_path: 'ci/all.yml' },
    async (world) => (await newProject(world)).ci_config_path,
    null,
    'ci/all.yml',
  ],
  [
    'custom_project_templates_group_id',
    { custom_project_templates_group_id: 7_000_000 },
    async (world) => {
      const template = await newProject(world, { namespace_id: (await groupNumbered(world, 7_000_000)).id })
      const wish = made({ use_custom_template: true, template_project_id: template.id })
      return (await world.root.post('/projects', wish)).status
    },
    400,
    201,
  ],
  [
    'repository_storages',
    { repository_storages: ['fast'] },
    async (world) => {
      await mkdir(join(repositoriesDir(world.config), 'fast'), { recursive: true })
      return (await newProject(world, { initialize_with_readme: true })).repository_storage
    },
    'default',
    'fast',
  ],

  // Accounts.
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

  // Git.
  [
    'D2-SETTINGS-GIT-PROTOCOL enabled_git_access_protocol',
    { enabled_git_access_protocol: 'ssh' },
    async (world) => (await world.anonymous.get(refs(await newProject(world, { visibility: 'public' })))).status,
    200,
    403,
  ],
  [
    'D2-SETTINGS-KEY-RESTRICTION ed25519_key_restriction',
    { ed25519_key_restriction: -1 },
    async (world) =>
      (await (await world.user()).post('/user/keys', { title: 'k', key: newPublicKey('ed25519') })).status,
    201,
    400,
  ],
  [
    'custom_http_clone_url_root',
    { custom_http_clone_url_root: 'https://clone.example/' },
    async (world) => new URL((await newProject(world)).http_url_to_repo).origin === world.origin,
    true,
    false,
  ],
  [
    'receive_max_input_size',
    { receive_max_input_size: 1 },
    async (world) => (await push(world, 1_500_000)).went,
    true,
    false,
  ],
  [
    'push_event_activities_limit',
    { push_event_activities_limit: 1 },
    async (world) => {
      const { project } = await push(world, 1, ['main', 'one', 'two'])
      return (await world.root.get(`/projects/${project.id}/events?action=pushed`)).json.length
    },
    3,
    1,
  ],
  [
    'repository_size_limit',
    { repository_size_limit: 1 },
    async (world) => {
      const project = await newProject(world, { initialize_with_readme: true })
      const large = 2 * 1024 * 1024
      await world.rows('update project_statistics set repository_size = $1 where project_id = $2', [large, project.id])
      return [await writesCommit(world, project), await lfsBatch(world, 1, project)]
    },
    [201, 200],
    [400, 403],
  ],
  [
    'diff_max_patch_bytes',
    { diff_max_patch_bytes: 400_000 },
    async (world) => {
      const { id } = await newProject(world)
      const actions = [{ action: 'create', file_path: 'a', content: 'a line of the file\n'.repeat(10_000) }]
      const commit = { branch: 'main', commit_message: 'One', actions }
      const sha = (await world.root.post(`/projects/${id}/repository/commits`, commit)).json.id
      return (await world.root.get(`/projects/${id}/repository/commits/${sha}/diff`)).json[0].diff.length > 0
    },
    false,
    true,
  ],
  ['lfs_enabled', { lfs_enabled: false }, (world) => lfsBatch(world, 1), 200, 501],
  ['max_lfs_object_size', { max_lfs_object_size: 1 }, (world) => lfsBatch(world, 2_000_000), 200, 422],
  ['max_attachment_size', { max_attachment_size: 1 }, (world) => upload(world, 1_500_000), true, false],

  // Requests that leave the house.
  [
    'D2-SETTINGS-IMPORT-SOURCES import_sources',
    { import_sources: ['manifest'] },
    (world) => importStatus(world, 'https://203.0.114.1/a.git'),
    201,
    403,
  ],
  [
    'allow_local_requests_from_web_hooks_and_services',
    { allow_local_requests_from_web_hooks_and_services: true },
    (world) => importStatus(world, 'http://10.0.0.1/a.git'),
    400,
    201,
  ],
  [
    'outbound_local_requests_whitelist',
    { outbound_local_requests_whitelist: ['10.0.0.0/8'] },
    (world) => importStatus(world, 'http://10.0.0.1/a.git'),
    400,
    201,
  ],

  // How often somebody may ask.
  [
    'throttle_unauthenticated_*',
    {
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 2,
      throttle_unauthenticated_period_in_seconds: 100_000,
    },
    async ({ anonymous }) => {
      const headers = { 'x-forwarded-for': '192.0.2.7' }
      return statuses(3, () => anonymous.get('/projects', { headers }))
    },
    [200, 200, 200],
    [200, 200, 429],
  ],
  [
    'throttle_authenticated_api_*',
    {
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 2,
      throttle_authenticated_api_period_in_seconds: 100_000,
    },
    async (world) => {
      const ann = await world.user()
      return statuses(3, () => ann.get('/user'))
    },
    [200, 200, 200],
    [200, 200, 429],
  ],
  [
    'throttle_authenticated_web_*',
    {
      throttle_authenticated_web_enabled: true,
      throttle_authenticated_web_requests_per_period: 2,
      throttle_authenticated_web_period_in_seconds: 100_000,
    },
    async (world) => {
      const ann = await world.user()
      const project = (await ann.post('/projects', made())).json
      const headers = basic(ann.username, ann.token!)
      return [
        ...(await statuses(3, () => world.anonymous.get(refs(project), { headers }))),
        (await ann.get('/user')).status,
      ]
    },
    [200, 200, 200, 200],
    [200, 200, 429, 200],
  ],
  [
    'throttle_protected_paths_*',
    {
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 2,
      throttle_protected_paths_period_in_seconds: 100_000,
      protected_paths: ['/api/v4/topics'],
    },
    async ({ anonymous }) => {
      const headers = { 'x-forwarded-for': '192.0.2.8' }
      return [
        ...(await statuses(3, () => anonymous.send('POST', '/topics', { headers }))),
        (await anonymous.get('/topics', { headers })).status,
      ]
    },
    [400, 400, 400, 200],
    [400, 400, 429, 200],
  ],
  [
    'unique_ips_limit_*',
    { unique_ips_limit_enabled: true, unique_ips_limit_per_user: 2, unique_ips_limit_time_window: 3600 },
    async (world) => fromAddresses(world, await world.user(), ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1']),
    [200, 200, 200, 200],
    [200, 200, 403, 200],
  ],

  // Pages and mails.
  ['email_additional_text', { email_additional_text: 'Be kind.' }, mailed, 'Hello.\n', 'Hello.\n\nBe kind.\n'],
  [
    'home_page_url',
    { home_page_url: 'https://home.example' },
    async ({ anonymous }) => (await anonymous.get('//')).headers['location'],
    undefined,
    'https://home.example',
  ],
  [
    'monitoring_metrics_enabled',
    { monitoring_metrics_enabled: false },
    async ({ anonymous }) => (await anonymous.get('//-/metrics')).status,
    200,
    404,
  ],
]

/** Shown where the thing itself is tested, because it takes more than one look. */
const elsewhere: readonly string[] = [
  'dns_rebinding_protection_enabled',
  'housekeeping_bitmaps_enabled',
  'housekeeping_enabled',
  'housekeeping_full_repack_period',
  'housekeeping_gc_period',
  'housekeeping_incremental_repack_period',
  'limit_projects_in_groups_api',
  'max_import_size',
  'password_lowercase_required',
  'repo_storage_timeout_default',
  'repo_storage_timeout_fast',
  'repo_storage_timeout_medium',
  'repository_checks_enabled',
  'search_rate_limit',
  'session_expire_delay',
]

describe('what settings do', () => {
  test('is shown for every one that does something', () => {
    const shown = new Set([
      ...effects.flatMap(([, values]) => Object.keys(values)),
      ...elsewhere,
      'enforce_terms',
      'terms',
    ])
    const active = declared.filter(([, { without }]) => without === undefined).map(([name]) => name)
    const types = ['rsa_key_restriction', 'dsa_key_restriction', 'ecdsa_key_restriction']
    expect(active.filter((name) => !shown.has(name) && !types.includes(name))).toEqual([])
    expect([...shown].filter((name) => !(active as string[]).includes(name))).toEqual([])
  })

  test.for(effects)('%s', { timeout: 30_000 }, async ([, values, look, before, after], { world }) => {
    expect(await look(world)).toEqual(before)
    await world.settings({})
    const changed = await world.root.put('/application/settings', values)
    expect(changed.status, changed.text).toBe(200)
    expect((await world.app.open(null)).settings).toMatchObject(values)
    expect(await look(world)).toEqual(after)
  })

  test('D2-SETTINGS-TERMS enforce_terms lets nobody do anything who did not accept them', async ({ world }) => {
    const ann = await world.user()
    const project: TestProject = await world.project({ members: [[ann, 'developer']] })
    const git = () =>
      ann.get(refs({ path_with_namespace: project.full_path }), { headers: basic(ann.username, ann.token!) })
    const token = { name: 'robot', scopes: ['api'] }
    const made = await world.root.post(`/projects/${project.id}/access_tokens`, token)
    const robot = { headers: { 'private-token': made.json.token } }
    const mustAccept = `You (@${ann.username}) must accept the Terms of Service in order to perform this action.`
    expect((await git()).status).toBe(200)

    await world.settings({})
    const enforced = await world.root.put('/application/settings', { enforce_terms: true, terms: 'Be kind.' })
    await expect.poll(async () => (await world.app.open(null)).settings.enforce_terms).toBe(true)
    expect(enforced).toMatchObject({ status: 200, json: { enforce_terms: true, terms: 'Be kind.' } })
    const refused = await ann.get('/user')
    expect(refused.status).toBe(403)
    expect(refused.json.message).toMatch(`403 Forbidden - ${mustAccept}`)
    expect(await git()).toMatchObject({ status: 403, text: expect.stringContaining(mustAccept) })
    expect((await world.anonymous.get(`/projects/${project.id}`, robot)).status).toBe(200)
    for (const path of [
      `//${project.full_path}/uploads/${'a'.repeat(32)}/a.txt`,
      '//uploads/-/system/user/avatar/1/a.png',
    ])
      expect([path, (await ann.get(path)).status]).toEqual([path, 403])
    expect((await world.anonymous.get('/projects')).status).toBe(200)

    const terms = (await ann.get('/user/terms')).json
    expect(terms).toEqual({ id: expect.any(Number), text: 'Be kind.', accepted_at: null })
    expect((await ann.post('/user/terms/accept', { id: terms.id + 1 })).status).toBe(404)
    for (const who of [ann, world.root])
      expect(await who.post('/user/terms/accept', { id: terms.id })).toMatchObject({
        status: 201,
        json: { ...terms, accepted_at: expect.any(String) },
      })
    expect((await ann.get('/user')).status).toBe(200)
    expect((await git()).status).toBe(200)

    await world.root.put('/application/settings', { terms: 'Be very kind.' })
    expect((await ann.get('/user')).status).toBe(403)
  })
})
