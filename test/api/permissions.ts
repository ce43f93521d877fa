import type { Level } from '../../src/access/levels.ts'

/**
 * Who may do what, from the supplement to the API documents (section 2), written down by hand: what `src/access/` says is held
 * against it. A new endpoint is a line here.
 */

/** The least member on something private; administrators may everything unless it says so. */
type Least = Level | 'administrator'

/**
 * `<least member> <others>`: others are P (where it is public everybody, where it is internal whoever signed in and is not
 * external), L (the same, but somebody) or - (nobody). With `live`, nobody at all once the project is archived.
 */
export type Who = `${Least} ${'P' | 'L' | '-'}${'' | ' live'}`

export type Row = readonly [
  /** Verb and path as declared, and what tells it from other rows of the same endpoint. */
  call: string,
  who: Who,
  /** What those get who may: one status, or several where it depends on who was there before. */
  status: number | readonly number[],
  more?: {
    readonly query?: string
    readonly json?: object
    readonly headers?: Readonly<Record<string, string>>
    /** With a form that has a `file`. */
    readonly file?: true
    /** In place of a parameter of the path: `{ ':branch': 'main' }`. */
    readonly at?: Readonly<Record<string, string>>
    /** Abilities that the operation asks for besides the endpoint's own. */
    readonly also?: readonly string[]
    /** An ability on the group that is named by a parameter, of an endpoint that asks for none itself. */
    readonly asks?: string
    /** What those get who may not, where it is none of 401, 403 and 404. */
    readonly refused?: number
    /** Only where it changes nothing. */
    readonly only?: 'archived' | 'live'
    readonly except?: 'public'
    /** Needs somebody who can be removed. */
    readonly victim?: true
  },
]

const absent = '999999999'
const long = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
const commit = { branch: 'main', commit_message: 'x' }
const badge = 'link_url=https%3A%2F%2Fexample.com&image_url=https%3A%2F%2Fexample.com'
const none = (...names: string[]) => ({ at: Object.fromEntries(names.map((name) => [`:${name}`, absent])) })

/** Operations on a project. On the way there is a commit; `main` has `README.md`. */
export const projectRows: readonly Row[] = [
  ['GET /projects/:id', 'guest P', 200],
  ['PUT /projects/:id', 'maintainer -', 200, { json: { description: 'x' } }],
  ['PUT /projects/:id name', 'owner -', 400, { json: { name: '!' }, also: ['rename_project'] }],
  [
    'PUT /projects/:id visibility',
    'owner -',
    400,
    { json: { visibility: 'public' }, also: ['change_visibility'], except: 'public' },
  ],
  ['PUT /projects/:id path', 'maintainer -', 400, { json: { path: '!' } }],
  ['DELETE /projects/:id', 'owner -', 412, { headers: long }],
  ['POST /projects/:id/archive', 'owner -', 201, { only: 'archived' }],
  ['POST /projects/:id/unarchive', 'owner -', 201, { only: 'live' }],
  ['POST /projects/:id/restore', 'owner -', 400],
  ['PUT /projects/:id/transfer', 'owner -', 404, { json: { namespace: absent } }],
  ['POST /projects/:id/share', 'maintainer -', 404, { json: { group_id: absent, group_access: 10 } }],
  ['DELETE /projects/:id/share/:group_id', 'maintainer -', 404, none('group_id')],
  ['POST /projects/:id/star', 'guest L', [201, 304]],
  ['POST /projects/:id/unstar', 'guest L', [201, 304]],
  ['GET /projects/:id/starrers', 'guest P', 200],
  ['POST /projects/:id/uploads', 'guest L live', 201, { file: true }],
  ['GET /projects/:id/events', 'guest P', 200],
  ['GET /projects/:id/search', 'guest L', 200, { query: 'scope=users&search=xxx' }],
  ['GET /projects/:id/-/search', 'guest L', 200, { query: 'scope=users&search=xxx' }],
  ['GET /projects/:id/search blobs', 'reporter L', 200, { query: 'scope=blobs&search=xxx', also: ['read_code'] }],
  ['GET /projects/:id/search commits', 'reporter L', 200, { query: 'scope=commits&search=xxx', also: ['read_code'] }],

  ['POST /projects/:id/fork', 'reporter L', 404, { json: { namespace: absent } }],
  ['GET /projects/:id/forks', 'guest P', 200],
  // Here the documents win: "for project owners and admins only".
  ['POST /projects/:id/fork/:forked_from_id', 'owner -', 400],
  ['DELETE /projects/:id/fork', 'owner -', 304],
  ['POST /projects/:id/housekeeping', 'maintainer -', [201, 409]],
  ['GET /projects/:id/languages', 'guest P', 200],
  ['GET /projects/:id/users', 'guest P', 200],
  ['GET /projects/:id/groups', 'guest P', 200],

  ['GET /projects/:id/members', 'guest L', 200],
  ['GET /projects/:id/members/all', 'guest L', 200],
  ['GET /projects/:id/members/:user_id', 'guest L', 404, none('user_id')],
  ['GET /projects/:id/members/all/:user_id', 'guest L', 404, none('user_id')],
  ['POST /projects/:id/members', 'maintainer -', 404, { json: { user_id: absent, access_level: 10 } }],
  ['PUT /projects/:id/members/:user_id', 'maintainer -', 404, { json: { access_level: 10 }, ...none('user_id') }],
  ['DELETE /projects/:id/members/:user_id', 'maintainer -', 204, { also: ['admin_member'], victim: true }],

  ['GET /projects/:id/repository/tree', 'reporter P', 200],
  ['GET /projects/:id/repository/blobs/:sha', 'reporter P', 404, none('sha')],
  ['GET /projects/:id/repository/blobs/:sha/raw', 'reporter P', 404, none('sha')],
  ['GET /projects/:id/repository/archive', 'reporter P', 404, { query: 'sha=none' }],
  ['GET /projects/:id/repository/archive.:format', 'reporter P', 404, { query: 'sha=none', at: { ':format': 'zip' } }],
  ['GET /projects/:id/repository/compare', 'reporter P', 200, { query: 'from=main&to=main' }],
  ['GET /projects/:id/repository/contributors', 'reporter P', 200],
  ['GET /projects/:id/repository/merge_base', 'reporter P', 200, { query: 'refs[]=main&refs[]=main' }],
  ['GET /projects/:id/repository/files/:file_path', 'reporter P', 200, { query: 'ref=main' }],
  ['GET /projects/:id/repository/files/:file_path/raw', 'reporter P', 200, { query: 'ref=main' }],
  ['GET /projects/:id/repository/files/:file_path/blame', 'reporter P', 404, { query: 'ref=none' }],
  ['POST /projects/:id/repository/files/:file_path', 'developer - live', 400, { json: { ...commit, content: 'x' } }],
  [
    'PUT /projects/:id/repository/files/:file_path',
    'developer - live',
    400,
    { json: { ...commit, content: 'x' }, at: { ':file_path': 'none' } },
  ],
  [
    'DELETE /projects/:id/repository/files/:file_path',
    'developer - live',
    400,
    { json: commit, at: { ':file_path': 'none' } },
  ],
  ['GET /projects/:id/repository/commits', 'reporter P', 200],
  ['GET /projects/:id/repository/commits/:sha', 'reporter P', 200],
  ['GET /projects/:id/repository/commits/:sha/diff', 'reporter P', 200],
  ['GET /projects/:id/repository/commits/:sha/refs', 'reporter P', 200],
  ['GET /projects/:id/repository/commits/:sha/comments', 'reporter P', 200],
  ['GET /projects/:id/repository/commits/:sha/signature', 'reporter P', 404],
  ['POST /projects/:id/repository/commits/:sha/comments', 'reporter L live', 400, { json: { note: ' ' } }],
  [
    'POST /projects/:id/repository/commits',
    'developer - live',
    400,
    { json: { ...commit, actions: [{ action: 'delete', file_path: 'none' }] }, also: ['push_code'] },
  ],
  [
    'POST /projects/:id/repository/commits/:sha/cherry_pick',
    'developer - live',
    400,
    { json: { branch: 'main' }, also: ['push_code'] },
  ],
  [
    'POST /projects/:id/repository/commits/:sha/revert',
    'developer - live',
    404,
    { json: { branch: 'main' }, also: ['push_code'], ...none('sha') },
  ],

  ['GET /projects/:id/repository/branches', 'reporter P', 200],
  ['GET /projects/:id/repository/branches/:branch', 'reporter P', 200],
  ['POST /projects/:id/repository/branches', 'developer - live', 400, { json: { branch: 'main', ref: 'main' } }],
  ['DELETE /projects/:id/repository/branches/:branch', 'developer - live', 404, none('branch')],
  ['DELETE /projects/:id/repository/merged_branches', 'developer - live', 202],
  ['PUT /projects/:id/repository/branches/:branch/protect', 'maintainer -', 404, none('branch')],
  ['PUT /projects/:id/repository/branches/:branch/unprotect', 'maintainer -', 404, none('branch')],
  ['GET /projects/:id/protected_branches', 'maintainer -', 200],
  ['GET /projects/:id/protected_branches/:name', 'maintainer -', 404, none('name')],
  ['POST /projects/:id/protected_branches', 'maintainer -', [201, 409], { json: { name: 'kept' } }],
  ['PATCH /projects/:id/protected_branches/:name', 'maintainer -', 404, none('name')],
  ['DELETE /projects/:id/protected_branches/:name', 'maintainer -', 404, none('name')],
  ['GET /projects/:id/repository/tags', 'reporter P', 200],
  ['GET /projects/:id/repository/tags/:tag_name', 'reporter P', 404, none('tag_name')],
  ['POST /projects/:id/repository/tags', 'developer - live', 400, { json: { tag_name: 'a..b', ref: 'main' } }],
  ['DELETE /projects/:id/repository/tags/:tag_name', 'developer - live', 404, none('tag_name')],
  [
    'POST /projects/:id/repository/tags/:tag_name/release',
    'developer - live',
    404,
    { json: { description: 'x' }, ...none('tag_name') },
  ],
  [
    'PUT /projects/:id/repository/tags/:tag_name/release',
    'developer - live',
    404,
    { json: { description: 'x' }, ...none('tag_name') },
  ],
  ['GET /projects/:id/protected_tags', 'maintainer -', 200],
  ['GET /projects/:id/protected_tags/:name', 'maintainer -', 404, none('name')],
  ['POST /projects/:id/protected_tags', 'maintainer -', [201, 409], { json: { name: 'kept' } }],
  ['DELETE /projects/:id/protected_tags/:name', 'maintainer -', 404, none('name')],

  ['GET /projects/:id/repository/commits/:sha/statuses', 'reporter L', 200],
  ['POST /projects/:id/statuses/:sha', 'developer - live', 404, { json: { state: 'success' }, ...none('sha') }],
  // Jobs of these projects are public, so whoever reads them reads those, too (settings of projects, `public_builds`).
  ['GET /projects/:id/pipelines', 'guest P', 200],
  ['GET /projects/:id/pipelines/latest', 'guest P', 404],
  ['GET /projects/:id/pipelines/:pipeline_id', 'guest P', 404, none('pipeline_id')],
  ['GET /projects/:id/pipelines/:pipeline_id/jobs', 'guest L', 404, none('pipeline_id')],
  ['GET /projects/:id/jobs', 'guest L', 200],

  ['GET /projects/:id/deploy_keys', 'maintainer -', 200],
  ['GET /projects/:id/deploy_keys/:key_id', 'maintainer -', 404, none('key_id')],
  ['POST /projects/:id/deploy_keys', 'maintainer -', 400, { json: { title: 'x', key: 'x' } }],
  ['PUT /projects/:id/deploy_keys/:key_id', 'maintainer -', 404, { json: { title: 'x' }, ...none('key_id') }],
  ['DELETE /projects/:id/deploy_keys/:key_id', 'maintainer -', 404, none('key_id')],
  ['POST /projects/:id/deploy_keys/:key_id/enable', 'maintainer -', 404, none('key_id')],

  // Neighbouring calls, on which the supplement is silent or short: as clients know them.
  ['GET /projects/:id/access_requests', 'maintainer -', 200],
  ['POST /projects/:id/access_requests', 'guest L live', [201, 400, 403, 409]],
  ['PUT /projects/:id/access_requests/:user_id/approve', 'maintainer -', 404, none('user_id')],
  [
    'DELETE /projects/:id/access_requests/:user_id',
    'maintainer -',
    404,
    { also: ['admin_member'], ...none('user_id') },
  ],
  ['GET /projects/:id/invitations', 'maintainer -', 200],
  ['POST /projects/:id/invitations', 'maintainer -', 201, { json: { email: '', access_level: 10 } }],
  ['PUT /projects/:id/invitations/:email', 'maintainer -', 404, { json: { access_level: 10 }, ...none('email') }],
  ['DELETE /projects/:id/invitations/:email', 'maintainer -', 404, none('email')],
  ['GET /projects/:id/notification_settings', 'guest L', 200],
  ['PUT /projects/:id/notification_settings', 'guest L', 200, { json: { level: 'global' } }],
  ['GET /projects/:id/audit_events', 'maintainer -', 200],
  ['GET /projects/:id/audit_events/:audit_event_id', 'maintainer -', 404, none('audit_event_id')],
  ['GET /projects/:id/badges', 'guest P', 200],
  ['GET /projects/:id/badges/:badge_id', 'guest P', 404, none('badge_id')],
  ['GET /projects/:id/badges/render', 'maintainer -', 200, { query: badge }],
  ['POST /projects/:id/badges', 'maintainer -', 400, { json: { link_url: 'x', image_url: 'x' } }],
  ['PUT /projects/:id/badges/:badge_id', 'maintainer -', 404, { json: { name: 'x' }, ...none('badge_id') }],
  ['DELETE /projects/:id/badges/:badge_id', 'maintainer -', 404, none('badge_id')],
  ['GET /projects/:id/variables', 'maintainer -', 200],
  ['GET /projects/:id/variables/:key', 'maintainer -', 404, none('key')],
  ['POST /projects/:id/variables', 'maintainer -', 400, { json: { key: '!', value: 'x' } }],
  ['PUT /projects/:id/variables/:key', 'maintainer -', 404, { json: { value: 'x' }, ...none('key') }],
  ['DELETE /projects/:id/variables/:key', 'maintainer -', 404, none('key')],
  ['GET /projects/:id/deploy_tokens', 'maintainer -', 200],
  ['GET /projects/:id/deploy_tokens/:token_id', 'maintainer -', 404, none('token_id')],
  ['POST /projects/:id/deploy_tokens', 'maintainer -', 400, { json: { name: ' ', scopes: ['read_repository'] } }],
  ['DELETE /projects/:id/deploy_tokens/:token_id', 'maintainer -', 404, none('token_id')],
  ['GET /projects/:id/access_tokens', 'maintainer -', 200],
  ['GET /projects/:id/access_tokens/:token_id', 'maintainer -', 404, none('token_id')],
  ['POST /projects/:id/access_tokens', 'maintainer -', 400, { json: { name: ' ', scopes: ['api'] } }],
  ['POST /projects/:id/access_tokens/:token_id/rotate', 'maintainer -', 404, none('token_id')],
  ['POST /projects/:id/access_tokens/self/rotate', 'guest -', 404],
  ['DELETE /projects/:id/access_tokens/:token_id', 'maintainer -', 404, none('token_id')],
  ['GET /projects/:id/custom_attributes', 'administrator -', 200],
  ['GET /projects/:id/custom_attributes/:key', 'administrator -', 404, none('key')],
  ['PUT /projects/:id/custom_attributes/:key', 'administrator -', 400, { json: { value: ' ' }, ...none('key') }],
  ['DELETE /projects/:id/custom_attributes/:key', 'administrator -', [204, 404], none('key')],
]

/** Operations on a group. */
export const groupRows: readonly Row[] = [
  ['GET /groups/:id', 'guest P', 200],
  ['GET /groups/:id/subgroups', 'guest P', 200],
  ['GET /groups/:id/descendant_groups', 'guest P', 200],
  ['GET /groups/:id/projects', 'guest P', 200],
  ['GET /groups/:id/search', 'guest L', 200, { query: 'scope=users&search=xxx' }],
  ['GET /groups/:id/-/search', 'guest L', 200, { query: 'scope=users&search=xxx' }],
  ['PUT /groups/:id', 'owner -', 200, { json: { description: 'x' } }],
  ['DELETE /groups/:id', 'owner -', 412, { headers: long }],
  ['POST /groups/:id/restore', 'owner -', 400],
  ['POST /groups/:id/share', 'owner -', 404, { json: { group_id: absent, group_access: 10 } }],
  ['DELETE /groups/:id/share/:group_id', 'owner -', 404, none('group_id')],
  ['POST /groups/:id/transfer', 'owner -', 400, { json: { group_id: null } }],
  ['POST /groups/:id/projects/:project_id', 'administrator -', 404, none('project_id')],
  // Groups are made with `subgroup_creation_level` maintainer and `project_creation_level` developer.
  ['POST /groups subgroup', 'maintainer -', 400, { json: { name: 'x', path: '!' }, asks: 'create_subgroup' }],
  ['POST /projects in it', 'developer -', 400, { json: { path: '!' }, asks: 'create_project', refused: 400 }],
  ['GET /groups/:id/members', 'guest L', 200],
  ['GET /groups/:id/members/all', 'guest L', 200],
  ['GET /groups/:id/members/:user_id', 'guest L', 404, none('user_id')],
  ['GET /groups/:id/members/all/:user_id', 'guest L', 404, none('user_id')],
  ['POST /groups/:id/members', 'owner -', 404, { json: { user_id: absent, access_level: 10 } }],
  ['PUT /groups/:id/members/:user_id', 'owner -', 404, { json: { access_level: 10 }, ...none('user_id') }],
  ['DELETE /groups/:id/members/:user_id', 'owner -', 204, { also: ['admin_member'], victim: true }],

  // Neighbouring calls, on which the supplement is silent or short: as clients know them.
  ['GET /groups/:id/access_requests', 'owner -', 200],
  ['POST /groups/:id/access_requests', 'guest L', [201, 400, 403, 409]],
  ['PUT /groups/:id/access_requests/:user_id/approve', 'owner -', 404, none('user_id')],
  ['DELETE /groups/:id/access_requests/:user_id', 'owner -', 404, { also: ['admin_member'], ...none('user_id') }],
  ['GET /groups/:id/invitations', 'owner -', 200],
  ['POST /groups/:id/invitations', 'owner -', 201, { json: { email: '', access_level: 10 } }],
  ['PUT /groups/:id/invitations/:email', 'owner -', 404, { json: { access_level: 10 }, ...none('email') }],
  ['DELETE /groups/:id/invitations/:email', 'owner -', 404, none('email')],
  ['GET /groups/:id/notification_settings', 'guest L', 200],
  ['PUT /groups/:id/notification_settings', 'guest L', 200, { json: { level: 'global' } }],
  ['GET /groups/:id/audit_events', 'owner -', 200],
  ['GET /groups/:id/audit_events/:audit_event_id', 'owner -', 404, none('audit_event_id')],
  ['GET /groups/:id/badges', 'guest P', 200],
  ['GET /groups/:id/badges/:badge_id', 'guest P', 404, none('badge_id')],
  ['GET /groups/:id/badges/render', 'owner -', 200, { query: badge }],
  ['POST /groups/:id/badges', 'owner -', 400, { json: { link_url: 'x', image_url: 'x' } }],
  ['PUT /groups/:id/badges/:badge_id', 'owner -', 404, { json: { name: 'x' }, ...none('badge_id') }],
  ['DELETE /groups/:id/badges/:badge_id', 'owner -', 404, none('badge_id')],
  ['GET /groups/:id/variables', 'owner -', 200],
  ['GET /groups/:id/variables/:key', 'owner -', 404, none('key')],
  ['POST /groups/:id/variables', 'owner -', 400, { json: { key: '!', value: 'x' } }],
  ['PUT /groups/:id/variables/:key', 'owner -', 404, { json: { value: 'x' }, ...none('key') }],
  ['DELETE /groups/:id/variables/:key', 'owner -', 404, none('key')],
  ['GET /groups/:id/deploy_tokens', 'maintainer -', 200],
  ['GET /groups/:id/deploy_tokens/:token_id', 'maintainer -', 404, none('token_id')],
  ['POST /groups/:id/deploy_tokens', 'owner -', 400, { json: { name: ' ', scopes: ['read_repository'] } }],
  ['DELETE /groups/:id/deploy_tokens/:token_id', 'owner -', 404, none('token_id')],
  ['GET /groups/:id/access_tokens', 'owner -', 200],
  ['GET /groups/:id/access_tokens/:token_id', 'owner -', 404, none('token_id')],
  ['POST /groups/:id/access_tokens', 'owner -', 400, { json: { name: ' ', scopes: ['api'] } }],
  ['POST /groups/:id/access_tokens/:token_id/rotate', 'owner -', 404, none('token_id')],
  ['POST /groups/:id/access_tokens/self/rotate', 'guest -', 404],
  ['DELETE /groups/:id/access_tokens/:token_id', 'owner -', 404, none('token_id')],
  ['GET /groups/:id/custom_attributes', 'administrator -', 200],
  ['GET /groups/:id/custom_attributes/:key', 'administrator -', 404, none('key')],
  ['PUT /groups/:id/custom_attributes/:key', 'administrator -', 400, { json: { value: ' ' }, ...none('key') }],
  ['DELETE /groups/:id/custom_attributes/:key', 'administrator -', [204, 404], none('key')],
]

/** Operations on accounts and on the service as a whole: by everybody, by whoever signed in, or by administrators. */
export const otherRows: readonly (readonly [
  call: string,
  who: 'everybody' | 'signed in' | 'administrator',
  status: number | readonly number[],
  more?: { readonly query?: string; readonly json?: object; readonly at?: Readonly<Record<string, string>> },
])[] = [
  ['GET /version', 'signed in', 200],
  ['GET /metadata', 'signed in', 200],
  ['GET /projects', 'everybody', 200],
  // External people have no room for projects of their own.
  ['POST /projects', 'signed in', [400, 403], { json: { path: '!' } }],
  ['GET /groups', 'everybody', 200],
  ['GET /namespaces', 'signed in', 200],
  ['GET /namespaces/:id', 'signed in', 404, none('id')],
  ['GET /search', 'signed in', 200, { query: 'scope=users&search=xxx' }],
  ['GET /events', 'signed in', 200],
  ['GET /user', 'signed in', 200],
  ['GET /user/terms', 'signed in', [200, 404]],
  ['POST /user/terms/accept', 'signed in', 404, { json: { id: 0 } }],
  ['GET /users', 'everybody', 200, { query: 'username=root' }],
  ['POST /users', 'administrator', 400, { json: { email: 'x', username: '!', name: 'x', password: 'x' } }],
  ['GET /users/:id', 'everybody', 200],
  ['GET /users/:user_id/projects', 'everybody', 200],
  ['GET /users/:user_id/starred_projects', 'everybody', 200],
  ['GET /users/:user_id/events', 'everybody', 200],
  ['PUT /users/:id', 'administrator', 400, { json: { username: '!' } }],
  ['DELETE /users/:id/identities/:provider', 'administrator', 404, none('provider')],
  ['POST /users/:id/block', 'administrator', 201],
  ['POST /users/:id/unblock', 'administrator', 201],
  ['POST /users/:id/ban', 'administrator', 201],
  ['POST /users/:id/unban', 'administrator', 201],
  // Whoever was active of late is not deactivated.
  ['POST /users/:id/deactivate', 'administrator', [201, 403]],
  ['POST /users/:id/activate', 'administrator', 201],
  ['GET /user/status', 'signed in', 200],
  ['PUT /user/status', 'signed in', 400, { json: { emoji: 'no such emoji' } }],
  ['GET /users/:user_id/status', 'everybody', 200],
  ['GET /user/emails', 'signed in', 200],
  ['GET /user/emails/:email_id', 'signed in', 404, none('email_id')],
  ['POST /user/emails', 'signed in', 400, { json: { email: 'x' } }],
  ['DELETE /user/emails/:email_id', 'signed in', 404, none('email_id')],
  ['GET /users/:id/emails', 'administrator', 200],
  ['POST /users/:id/emails', 'administrator', 400, { json: { email: 'x' } }],
  ['DELETE /users/:id/emails/:email_id', 'administrator', 404, none('email_id')],
  ['GET /user/activities', 'administrator', 200],
  ['GET /user_counts', 'signed in', 200],
  ['GET /avatar', 'everybody', 200, { query: 'email=x%40example.com' }],
  ['POST /projects/user/:id', 'administrator', 400, { json: { name: '!' } }],
  ['GET /personal_access_tokens', 'signed in', 200],
  ['GET /personal_access_tokens/self', 'signed in', 200],
  ['DELETE /personal_access_tokens/self', 'signed in', 204],
  ['GET /personal_access_tokens/:id', 'signed in', 404, none('id')],
  ['DELETE /personal_access_tokens/:id', 'signed in', 404, none('id')],
  ['POST /personal_access_tokens/self/rotate', 'signed in', 400, { json: { expires_at: '2020-01-01' } }],
  ['POST /personal_access_tokens/:id/rotate', 'signed in', 404, none('id')],
  ['POST /user/personal_access_tokens', 'signed in', 400, { json: { name: 'x', scopes: [] } }],
  ['GET /users/:id/impersonation_tokens', 'administrator', 200],
  ['GET /users/:id/impersonation_tokens/:impersonation_token_id', 'administrator', 404, none('impersonation_token_id')],
  ['POST /users/:id/impersonation_tokens', 'administrator', 201, { json: { name: 'x', scopes: ['read_user'] } }],
  [
    'DELETE /users/:id/impersonation_tokens/:impersonation_token_id',
    'administrator',
    404,
    none('impersonation_token_id'),
  ],
  ['GET /user/two_factor', 'signed in', 200],
  ['POST /user/two_factor', 'signed in', 400, { json: { password: 'x' } }],
  ['POST /user/two_factor/confirm', 'signed in', 400, { json: { code: 'x' } }],
  ['POST /user/two_factor/recovery_codes', 'signed in', 400, { json: { code: 'x' } }],
  ['DELETE /user/two_factor', 'signed in', 400, { json: { code: 'x' } }],
  ['PUT /users/:id/disable_two_factor', 'administrator', 400],
  ['PATCH /users/:id/disable_two_factor', 'administrator', 400],
  ['POST /users/:id/personal_access_tokens', 'administrator', 201, { json: { name: 'x', scopes: ['read_user'] } }],
  ['GET /user/keys', 'signed in', 200],
  ['GET /user/keys/:key_id', 'signed in', 404, none('key_id')],
  ['POST /user/keys', 'signed in', 400, { json: { title: 'x', key: 'x' } }],
  ['DELETE /user/keys/:key_id', 'signed in', 404, none('key_id')],
  ['GET /users/:user_id/keys', 'everybody', 200],
  ['GET /users/:user_id/keys/:key_id', 'everybody', 404, none('key_id')],
  ['POST /users/:user_id/keys', 'administrator', 400, { json: { title: 'x', key: 'x' } }],
  ['DELETE /users/:user_id/keys/:key_id', 'administrator', 404, none('key_id')],
  ['GET /keys', 'administrator', 404, { query: 'fingerprint=00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff' }],
  ['GET /keys/:id', 'administrator', 404, none('id')],
  ['GET /user/gpg_keys', 'signed in', 200],
  ['GET /user/gpg_keys/:key_id', 'signed in', 404, none('key_id')],
  ['POST /user/gpg_keys', 'signed in', 400, { json: { key: 'x' } }],
  ['POST /user/gpg_keys/:key_id/revoke', 'signed in', 404, none('key_id')],
  ['DELETE /user/gpg_keys/:key_id', 'signed in', 404, none('key_id')],
  ['GET /users/:id/gpg_keys', 'administrator', 200],
  ['GET /users/:id/gpg_keys/:key_id', 'administrator', 404, none('key_id')],
  ['POST /users/:id/gpg_keys', 'administrator', 400, { json: { key: 'x' } }],
  ['POST /users/:id/gpg_keys/:key_id/revoke', 'administrator', 404, none('key_id')],
  ['DELETE /users/:id/gpg_keys/:key_id', 'administrator', 404, none('key_id')],
  ['GET /deploy_keys', 'administrator', 200],
  ['GET /deploy_tokens', 'administrator', 200],
  ['GET /users/:id/memberships', 'administrator', 200],
  ['GET /users/:id/custom_attributes', 'administrator', 200],
  ['GET /users/:id/custom_attributes/:key', 'administrator', 404, none('key')],
  ['PUT /users/:id/custom_attributes/:key', 'administrator', 400, { json: { value: ' ' }, ...none('key') }],
  ['DELETE /users/:id/custom_attributes/:key', 'administrator', [204, 404], none('key')],
  ['GET /notification_settings', 'signed in', 200],
  ['PUT /notification_settings', 'signed in', 200, { json: { level: 'watch' } }],
  ['GET /topics', 'everybody', 200],
  ['GET /topics/:id', 'everybody', 404, none('id')],
  ['POST /topics', 'administrator', 400, { json: { name: ' ' } }],
  ['PUT /topics/:id', 'administrator', 404, { json: { name: 'x' }, ...none('id') }],
  ['DELETE /topics/:id', 'administrator', 404, none('id')],
  ['GET /application/settings', 'administrator', 200],
  ['PUT /application/settings', 'administrator', 400, { json: { max_attachment_size: 0 } }],
  ['GET /application/appearance', 'administrator', 200],
  ['PUT /application/appearance', 'administrator', 400, { json: { message_font_color: 'green' } }],
  ['GET /application/statistics', 'administrator', 200],
  ['GET /broadcast_messages', 'everybody', 200],
  ['GET /broadcast_messages/:id', 'everybody', 404, none('id')],
  ['POST /broadcast_messages', 'administrator', 400, { json: { message: ' ' } }],
  ['PUT /broadcast_messages/:id', 'administrator', 404, { json: { message: 'x' }, ...none('id') }],
  ['DELETE /broadcast_messages/:id', 'administrator', 404, none('id')],
  ['GET /features', 'administrator', 200],
  ['POST /features/:name', 'administrator', 400, { json: { value: 'perhaps' }, at: { ':name': 'x' } }],
  ['DELETE /features/:name', 'administrator', 204, { at: { ':name': 'never-touched' } }],
  ['GET /audit_events', 'administrator', 200],
  ['GET /audit_events/:id', 'administrator', 404, none('id')],
  ['GET /admin/ci/variables', 'administrator', 200],
  ['GET /admin/ci/variables/:key', 'administrator', 404, none('key')],
  ['POST /admin/ci/variables', 'administrator', 400, { json: { key: '!', value: 'x' } }],
  ['PUT /admin/ci/variables/:key', 'administrator', 404, { json: { value: 'x' }, ...none('key') }],
  ['DELETE /admin/ci/variables/:key', 'administrator', 404, none('key')],
  // Last: he is gone then.
  ['DELETE /users/:id', 'administrator', 204],
]

/** Git over HTTP. */
export const gitRows: readonly (readonly [
  service: 'git-upload-pack' | 'git-receive-pack',
  who: Who,
  ability: 'read_code' | 'push_code',
])[] = [
  ['git-upload-pack', 'reporter P', 'read_code'],
  ['git-receive-pack', 'developer - live', 'push_code'],
]
