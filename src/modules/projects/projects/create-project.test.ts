import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { test, unique } from '../../../../test/world.ts'

describe('POST /projects', () => {
  test('POST /projects returns the whole record with the defaults', async ({ world }) => {
    const ann = await world.user()
    const name = unique('App')
    const made = await ann.post('/projects', { name })
    expect(made.status).toBe(201)
    const path = name.toLowerCase()
    const { id } = made.json
    const self = `${world.origin}/api/v4/projects/${id}`
    const person = { id: ann.id, username: ann.username, name: `Name of ${ann.username}` }
    expect(made.json).toEqual({
      id,
      name,
      path,
      description: null,
      default_branch: null,
      visibility: 'private',
      archived: false,
      empty_repo: true,
      name_with_namespace: `${person.name} / ${name}`,
      path_with_namespace: `${ann.username}/${path}`,
      web_url: `${world.origin}/${ann.username}/${path}`,
      http_url_to_repo: `${world.origin}/${ann.username}/${path}.git`,
      ssh_url_to_repo: expect.stringMatching(
        new RegExp(`^ssh://git@127\\.0\\.0\\.1:${world.config.sshPort}/${ann.username}/${path}\\.git$`),
      ),
      readme_url: null,
      tag_list: [],
      topics: [],
      avatar_url: null,
      star_count: 0,
      forks_count: 0,
      open_issues_count: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_activity_at: made.json.created_at,
      creator_id: ann.id,
      owner: {
        ...person,
        state: 'active',
        avatar_url: expect.any(String),
        web_url: `${world.origin}/${ann.username}`,
        created_at: expect.stringMatching(/Z$/),
      },
      namespace: {
        id: expect.any(Number),
        name: person.name,
        path: ann.username,
        kind: 'user',
        full_path: ann.username,
        parent_id: null,
        avatar_url: expect.stringContaining('gravatar.com'),
        web_url: `${world.origin}/${ann.username}`,
      },
      _links: {
        self,
        issues: `${self}/issues`,
        merge_requests: `${self}/merge_requests`,
        repo_branches: `${self}/repository/branches`,
        labels: `${self}/labels`,
        events: `${self}/events`,
        members: `${self}/members`,
      },
      permissions: { project_access: { access_level: 40, notification_level: 3 }, group_access: null },
      issues_enabled: true,
      merge_requests_enabled: true,
      jobs_enabled: true,
      wiki_enabled: true,
      snippets_enabled: true,
      container_registry_enabled: true,
      container_registry_access_level: 'enabled',
      container_expiration_policy: {
        enabled: true,
        cadence: '7d',
        keep_n: 10,
        older_than: '90d',
        name_regex: null,
        name_regex_delete: null,
        name_regex_keep: null,
      },
      issues_access_level: 'enabled',
      repository_access_level: 'enabled',
      merge_requests_access_level: 'enabled',
      builds_access_level: 'enabled',
      wiki_access_level: 'enabled',
      snippets_access_level: 'enabled',
      forking_access_level: 'enabled',
      pages_access_level: 'private',
      can_create_merge_request_in: true,
      resolve_outdated_diff_discussions: false,
      import_status: 'none',
      import_error: null,
      shared_runners_enabled: true,
      lfs_enabled: true,
      runners_token: expect.stringMatching(/^[\w-]{20}$/),
      ci_default_git_depth: 50,
      ci_config_path: null,
      build_git_strategy: 'fetch',
      build_timeout: 3600,
      build_coverage_regex: null,
      auto_cancel_pending_pipelines: 'enabled',
      ci_forward_deployment_enabled: true,
      public_jobs: true,
      shared_with_groups: [],
      only_allow_merge_if_pipeline_succeeds: false,
      only_allow_merge_if_all_discussions_are_resolved: false,
      remove_source_branch_after_merge: true,
      printing_merge_request_link_enabled: true,
      request_access_enabled: false,
      autoclose_referenced_issues: true,
      merge_method: 'merge',
      squash_option: 'default_off',
      suggestion_commit_message: null,
      merge_commit_template: null,
      squash_commit_template: null,
      auto_devops_enabled: true,
      auto_devops_deploy_strategy: 'continuous',
      approvals_before_merge: 0,
      mirror: false,
      mirror_user_id: null,
      mirror_trigger_builds: false,
      only_mirror_protected_branches: false,
      mirror_overwrites_diverged_branches: false,
      external_authorization_classification_label: null,
      compliance_frameworks: [],
      packages_enabled: true,
      service_desk_enabled: true,
      service_desk_address: null,
      marked_for_deletion_at: null,
      marked_for_deletion_on: null,
    })
    expect((await ann.get(`/projects/${id}`)).json).toEqual(made.json)
    const [event] = await eventsOf(world, { project: id }, 'kind', 'actor_id', 'payload')
    expect(event).toEqual({ kind: 'project_created', actor_id: ann.id, payload: {} })
    const audited = (await world.root.get(`/audit_events?entity_type=Project&entity_id=${id}`)).json
    expect(audited[0]).toMatchObject({
      event_name: 'project_created',
      author_id: ann.id,
      details: { facts: { name, full_path: `${ann.username}/${path}`, visibility: 'private' } },
    })
  })

  test('POST /projects accepts every setting', async ({ world }) => {
    const ann = await world.user()
    const sent = {
      description: 'What it does',
      visibility: 'public',
      issues_access_level: 'private',
      repository_access_level: 'enabled',
      merge_requests_access_level: 'private',
      builds_access_level: 'disabled',
      wiki_access_level: 'private',
      snippets_access_level: 'disabled',
      forking_access_level: 'disabled',
      pages_access_level: 'public',
      container_registry_enabled: false,
      lfs_enabled: false,
      packages_enabled: false,
      service_desk_enabled: false,
      resolve_outdated_diff_discussions: true,
      shared_runners_enabled: false,
      request_access_enabled: true,
      only_allow_merge_if_pipeline_succeeds: true,
      only_allow_merge_if_all_discussions_are_resolved: true,
      printing_merge_request_link_enabled: false,
      remove_source_branch_after_merge: false,
      merge_method: 'ff',
      squash_option: 'default_on',
      autoclose_referenced_issues: false,
      suggestion_commit_message: 'Apply',
      build_git_strategy: 'clone',
      build_timeout: 600,
      auto_cancel_pending_pipelines: 'disabled',
      ci_forward_deployment_enabled: false,
      build_coverage_regex: '\\d+',
      ci_config_path: 'ci/main.yml',
      ci_default_git_depth: 0,
      auto_devops_enabled: false,
      auto_devops_deploy_strategy: 'manual',
      approvals_before_merge: 2,
      external_authorization_classification_label: 'secret',
    }
    const made = await ann.post('/projects', { name: 'Set', public_builds: false, ...sent })
    expect(made).toMatchObject({
      status: 201,
      json: { ...sent, public_jobs: false, jobs_enabled: false, snippets_enabled: false, issues_enabled: true },
    })
  })

  test('public_jobs is accepted under the name that the record has, and public_builds wins over it', async ({
    world,
  }) => {
    const ann = await world.user()
    const made = await ann.post('/projects', { name: unique('jobs'), public_jobs: false })
    expect(made).toMatchObject({ status: 201, json: { public_jobs: false } })
    const at = `/projects/${made.json.id}`
    expect((await ann.put(at, { public_jobs: true })).json.public_jobs).toBe(true)
    expect((await ann.put(at, { public_jobs: true, public_builds: false })).json.public_jobs).toBe(false)
    expect((await ann.get(at)).json.public_jobs).toBe(false)
  })

  test.for([
    { merge_method: 'merge', rule: 'D2-MERGE-METHOD-MERGE' },
    { merge_method: 'rebase_merge', rule: 'D2-MERGE-METHOD-REBASE' },
    { merge_method: 'ff', rule: 'D2-MERGE-METHOD-FF' },
  ] as const)('$rule: merge_method $merge_method is accepted and listed', async ({ merge_method }, { world }) => {
    const project = await world.project({ merge_method })
    expect((await world.root.get(`/projects?search=${project.path}`)).json).toMatchObject([{ merge_method }])
  })

  test('a new project takes auto_devops_enabled from the nearest group that sets it', async ({ world }) => {
    const parent = await world.group({ auto_devops_enabled: false })
    const [inherits, decides] = [
      await world.group({ parent }),
      await world.group({ parent, auto_devops_enabled: true }),
    ]
    const made = async (group: { id: number }, more = {}) =>
      (await world.root.post('/projects', { name: 'P', namespace_id: group.id, ...more })).json.auto_devops_enabled
    expect(await made(inherits)).toBe(false)
    expect(await made(decides)).toBe(true)
    expect(await made(parent, { auto_devops_enabled: true })).toBe(true)
  })

  test('the deprecated feature switches set access levels', async ({ world }) => {
    const off = {
      issues_enabled: false,
      merge_requests_enabled: false,
      jobs_enabled: 'no',
      wiki_enabled: 0,
      snippets_enabled: true,
    }
    const ann = await world.user()
    expect((await ann.post('/projects', { name: 'Old', ...off })).json).toMatchObject({
      issues_access_level: 'disabled',
      merge_requests_access_level: 'disabled',
      builds_access_level: 'disabled',
      wiki_access_level: 'disabled',
      snippets_access_level: 'enabled',
    })
    // The newer form wins.
    expect(
      (await ann.post('/projects', { name: 'Both', issues_enabled: false, issues_access_level: 'private' })).json,
    ).toMatchObject({ issues_access_level: 'private', issues_enabled: true })
  })

  test('topics are sorted and distinct, from a list or text with commas', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.post('/projects', { name: 'T1', tag_list: ['web', ' api ', 'web', ''] })).json.tag_list).toEqual([
      'api',
      'web',
    ])
    expect((await ann.post('/projects', { name: 'T2', tag_list: 'web, api,web' })).json.topics).toEqual(['api', 'web'])
  })

  test('400 for topics that are too long or too many', async ({ world }) => {
    const ann = await world.user()
    const project = (await ann.post('/projects', { name: unique('topics') })).json
    for (const { wish, violation } of [
      {
        wish: { topics: ['x'.repeat(256)] },
        violation: { message: { topics: ['is too long (maximum is 255 characters)'] } },
      },
      { wish: { tag_list: 'a\u0001b' }, violation: { message: { tag_list: ['is invalid'] } } },
      {
        wish: { topics: Array.from({ length: 1001 }, (_, index) => `t${index}`) },
        violation: { error: 'topics does not have a valid value' },
      },
    ])
      for (const answer of [
        await ann.post('/projects', { name: unique('topics'), ...wish }),
        await ann.put(`/projects/${project.id}`, wish),
      ])
        expect(answer).toMatchObject({ status: 400, json: violation })
    const whole = { topics: ['\u{1F98A}'.repeat(255)] }
    expect(await ann.put(`/projects/${project.id}`, whole)).toMatchObject({ status: 200, json: whole })
  })

  test('an empty default_branch counts as absent, as glab sends it', async ({ world }) => {
    const sent = { name: unique('glab'), description: '', default_branch: '', tag_list: [] }
    expect((await world.root.post('/projects', sent)).json).toMatchObject({ default_branch: null, empty_repo: true })
    const initialized = await world.root.post('/projects', {
      ...sent,
      name: unique('glab'),
      initialize_with_readme: true,
    })
    expect(initialized).toMatchObject({ status: 201, json: { default_branch: 'master' } })
  })

  test('400 without a project for a default branch that no push may create', async ({ world }) => {
    const ann = await world.user()
    const wish = { name: 'Hex', path: 'hex', initialize_with_readme: true, default_branch: 'a'.repeat(40) }
    expect(await ann.post('/projects', wish)).toMatchObject({
      status: 400,
      json: { message: { default_branch: ['is invalid'] } },
    })
    expect((await ann.get(`/projects/${ann.username}%2Fhex`)).status).toBe(404)
  })

  test('a project without a repository has no README', async ({ world }) => {
    const disabled = { repository_access_level: 'disabled', merge_requests_enabled: false, jobs_enabled: false }
    const made = await world.root.post('/projects', { name: unique('bare'), initialize_with_readme: true, ...disabled })
    expect(made).toMatchObject({ status: 201, json: { empty_repo: true } })
  })

  test('a project needs a name or a path', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.post('/projects', { path: 'Only.Path' })).json).toMatchObject({
      name: 'Only.Path',
      path: 'Only.Path',
    })
    expect((await ann.post('/projects', { name: 'Größe & Maß 1.0' })).status).toBe(400)
    expect((await ann.post('/projects', { name: 'Größe – Maß 1.0' })).json).toMatchObject({ path: 'grosse-mass-1-0' })
    expect(await ann.post('/projects', { description: 'x' })).toMatchObject({
      status: 400,
      json: { error: 'name, path are missing, at least one parameter must be provided' },
    })
    // A name without a character that is valid in a path needs a path as well.
    expect(await ann.post('/projects', { name: '名前' })).toMatchObject({
      status: 400,
      json: { message: { path: ["can't be blank"] } },
    })
    expect((await ann.post('/projects', { name: '名前', path: 'namae' })).json).toMatchObject({ name: '名前' })
  })

  test.for([
    [{ path: 'tree' }, { path: ['tree is a reserved name'] }],
    [
      { path: 'x.git' },
      {
        path: [
          "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
        ],
      },
    ],
    [
      { name: '-x', path: 'x' },
      {
        name: [
          "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'.",
        ],
      },
    ],
    [{ name: '' }, { name: ["can't be blank"], path: ["can't be blank"] }],
    [{ name: 'x'.repeat(256), path: 'x' }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ name: 'D', description: 'd'.repeat(2001) }, { description: ['is too long (maximum is 2000 characters)'] }],
    [
      { name: 'S', suggestion_commit_message: 's'.repeat(256) },
      { suggestion_commit_message: ['is too long (maximum is 255 characters)'] },
    ],
    [
      { name: 'E', external_authorization_classification_label: 'e'.repeat(256) },
      { external_authorization_classification_label: ['is too long (maximum is 255 characters)'] },
    ],
    [
      { name: 'C', ci_config_path: '/etc/passwd' },
      { ci_config_path: ['cannot include leading slash or directory traversal.'] },
    ],
    [
      { name: 'C', ci_config_path: 'a/../b' },
      { ci_config_path: ['cannot include leading slash or directory traversal.'] },
    ],
    [
      { name: 'F', repository_access_level: 'private' },
      {
        merge_requests_access_level: ['cannot have higher visibility level than repository access level'],
        builds_access_level: ['cannot have higher visibility level than repository access level'],
      },
    ],
  ] as const)('400 with messages by field for POST /projects with %j', async ([sent, message], { world }) => {
    expect(await (await world.user()).post('/projects', sent)).toMatchObject({ status: 400, json: { message } })
  })

  test.for([
    [{ visibility: 'hidden' }, 'visibility does not have a valid value'],
    [{ merge_method: 'octopus' }, 'merge_method does not have a valid value'],
    [{ issues_access_level: 'public' }, 'issues_access_level does not have a valid value'],
    [{ build_timeout: 599 }, 'build_timeout does not have a valid value'],
    [{ namespace_id: 'mine' }, 'namespace_id is invalid'],
    [{ lfs_enabled: 2 }, 'lfs_enabled is invalid'],
    [{ ci_config_path: 'a\0' }, 'ci_config_path is invalid'],
  ] as const)('400 for POST /projects with the invalid parameter %j', async ([more, error], { world }) => {
    expect(await world.root.post('/projects', { name: 'X', ...more })).toMatchObject({ status: 400, json: { error } })
  })

  test('401 for POST /projects without a token', async ({ world }) => {
    expect(await world.anonymous.post('/projects', { name: 'X' })).toMatchObject({
      status: 401,
      json: { message: '401 Unauthorized' },
    })
  })
})
