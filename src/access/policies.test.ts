import { describe, expect, test } from 'vitest'
import { groupPolicy } from './group-policy.ts'
import { instanceFacts, instancePolicy } from './instance-policy.ts'
import { allows, type Facts, type Rule } from './policy.ts'
import { projectPolicy } from './project-policy.ts'
import { actor, admin, all, changedBy, flag, forUsers, least, matches, refused, without } from './testing.ts'
import { userPolicy } from './user-policy.ts'

describe('abilities on projects', () => {
  // Source: supplement to the API documents, "Matrix": the lowest role, on a private and on a public project.
  matches('project', projectPolicy, [
    ['read_project', 'guest', 'anonymous'],
    ['read_code', 'reporter', 'anonymous'],
    ['read_statistics', 'reporter', 'reporter'],
    ['read_member', 'guest', 'stranger'],
    ['fork_project', 'reporter', 'stranger'],
    ['link_fork', 'owner', 'owner'],
    ['keep_house', 'maintainer', 'maintainer'],
    ['export_project', 'maintainer', 'maintainer'],
    ['read_mirror', 'maintainer', 'maintainer'],
    ['admin_mirror', 'maintainer', 'maintainer'],
    ['read_commit_status', 'reporter', 'stranger'],
    ['create_commit_status', 'developer', 'developer'],
    ['read_pipeline', 'reporter', 'anonymous'],
    ['read_job', 'reporter', 'stranger'],
    ['read_environment', 'reporter', 'stranger'],
    ['update_environment', 'developer', 'developer'],
    ['read_deployment', 'reporter', 'stranger'],
    ['update_deployment', 'developer', 'developer'],
    ['remove_deployment', 'maintainer', 'maintainer'],
    ['push_code', 'developer', 'developer'],
    ['force_unlock', 'maintainer', 'maintainer'],
    ['admin_member', 'maintainer', 'maintainer'],
    ['admin_project', 'maintainer', 'maintainer'],
    ['request_access', 'guest', 'stranger'],
    ['set_notifications', 'guest', 'stranger'],
    ['read_wiki', 'guest', 'anonymous'],
    ['create_wiki', 'developer', 'developer'],
    ['admin_wiki', 'maintainer', 'maintainer'],
    ['read_badge', 'guest', 'anonymous'],
    ['admin_badge', 'maintainer', 'maintainer'],
    ['admin_hook', 'maintainer', 'maintainer'],
    ['read_deploy_token', 'maintainer', 'maintainer'],
    ['admin_deploy_token', 'maintainer', 'maintainer'],
    ['admin_access_token', 'maintainer', 'maintainer'],
    ['admin_variable', 'maintainer', 'maintainer'],
    ['admin_custom_attribute', 'administrator', 'administrator'],
    ['read_storage', 'administrator', 'administrator'],
    ['rename_project', 'owner', 'owner'],
    ['change_visibility', 'owner', 'owner'],
    ['remove_project', 'owner', 'owner'],
    ['star_project', 'guest', 'stranger'],
    ['upload_file', 'guest', 'stranger'],
    ['admin_upload', 'maintainer', 'maintainer'],
    ['remove_upload', 'maintainer', 'maintainer'],
    ['search_project', 'guest', 'stranger'],
    ['request_commit', 'guest', 'stranger'],
    ['collaborate', 'reporter', 'stranger'],
    ['push_first_commit', 'maintainer', 'maintainer'],
    ['read_release', 'guest', 'anonymous'],
    ['admin_tag', 'developer', 'developer'],
    ['read_issue', 'guest', 'stranger'],
    ['read_confidential_issue', 'reporter', 'reporter'],
    ['create_issue', 'guest', 'stranger'],
    ['read_snippet', 'guest', 'anonymous'],
    ['create_snippet', 'reporter', 'reporter'],
    ['admin_issue', 'reporter', 'reporter'],
    ['date_issue', 'owner', 'owner'],
    ['read_board', 'guest', 'stranger'],
    ['admin_board', 'reporter', 'reporter'],
    ['read_merge_request', 'reporter', 'stranger'],
    ['create_merge_request_in', 'guest', 'stranger'],
    ['create_merge_request_from', 'developer', 'developer'],
    ['read_label', 'guest', 'anonymous'],
    ['admin_label', 'reporter', 'reporter'],
    ['subscribe_to_label', 'guest', 'stranger'],
    ['read_milestone', 'guest', 'anonymous'],
    ['read_container_image', 'reporter', 'anonymous'],
    ['create_container_image', 'developer', 'developer'],
    ['destroy_container_image', 'developer', 'developer'],
    ['admin_container_image', 'maintainer', 'maintainer'],
    ['admin_milestone', 'developer', 'developer'],
    ['delete_protected_branch', 'maintainer', 'maintainer'],
    ['admin_protected_ref', 'maintainer', 'maintainer'],
    ['admin_push_rule', 'maintainer', 'maintainer'],
    ['rotate_own_token', 'guest', 'guest'],
    ['share_project', 'maintainer', 'maintainer'],
    ['admin_deploy_key', 'maintainer', 'maintainer'],
    ['read_audit_event', 'maintainer', 'maintainer'],
    ['transfer_project', 'owner', 'owner'],
    ['archive_project', 'owner', 'owner'],
    ['restore_project', 'owner', 'owner'],
  ])

  test('signed-in users can read internal projects', () => {
    expect(least(projectPolicy.read_project, 10)).toBe('stranger')
    expect(least(projectPolicy.read_code, 10)).toBe('stranger')
  })

  test('archived projects are read-only, but for settings, members and what only reads them', () => {
    expect(changedBy(projectPolicy, flag('archived'))).toEqual(
      all(
        refused,
        ...['upload_file', 'remove_upload', 'create_commit_status', 'push_code'],
        ...['collaborate', 'push_first_commit', 'admin_tag', 'create_merge_request_in', 'create_merge_request_from'],
        ...['update_environment', 'update_deployment', 'remove_deployment'],
        'create_snippet',
        ...['create_issue', 'admin_issue', 'date_issue', 'admin_board'],
        ...['admin_label', 'admin_milestone', 'force_unlock', 'delete_protected_branch', 'request_access'],
        ...['create_wiki', 'admin_wiki'],
        'admin_mirror',
        ...['create_container_image', 'destroy_container_image', 'admin_container_image'],
      ),
    )
  })

  test('nothing is pushed, forked or written while a project is being imported', () => {
    const { admin_mirror: _mirror, request_access: _access, ...readOnly } = changedBy(projectPolicy, flag('archived'))
    expect(changedBy(projectPolicy, flag('importing'))).toEqual({
      ...readOnly,
      ...all(refused, 'fork_project', 'admin_badge'),
    })
  })

  test('deploy tokens push container images', () => {
    expect(changedBy(projectPolicy, flag('deploy_token'))).toEqual(all(forUsers, 'create_container_image'))
  })

  test('with public jobs, guests read pipelines and jobs', () => {
    expect(changedBy(projectPolicy, flag('guest_of_public_jobs'))).toEqual({
      read_pipeline: 'stranger, anonymous',
      read_job: forUsers,
    })
  })

  test('without public jobs, jobs are for members and pipelines stay public', () => {
    expect(changedBy(projectPolicy, flag('private_jobs'))).toEqual({ read_job: 'reporter, reporter' })
  })

  test('a disabled feature removes its abilities from everyone', () => {
    expect(changedBy(projectPolicy, without('repository'))).toEqual(
      all(
        refused,
        ...['read_code', 'push_code', 'collaborate', 'push_first_commit', 'read_release'],
        ...['admin_tag', 'create_merge_request_from', 'force_unlock', 'delete_protected_branch', 'admin_mirror'],
      ),
    )
    expect(changedBy(projectPolicy, without('forking'))).toEqual(all(refused, 'fork_project'))
    expect(changedBy(projectPolicy, without('merge_requests'))).toEqual(
      all(refused, 'read_merge_request', 'create_merge_request_in'),
    )
    expect(changedBy(projectPolicy, without('issues'))).toEqual(
      all(
        refused,
        ...['read_issue', 'read_confidential_issue', 'create_issue', 'admin_issue', 'date_issue'],
        ...['read_board', 'admin_board'],
      ),
    )
    expect(changedBy(projectPolicy, without('wiki'))).toEqual(all(refused, 'read_wiki', 'create_wiki', 'admin_wiki'))
    expect(changedBy(projectPolicy, without('builds'))).toEqual(
      all(
        refused,
        ...['read_commit_status', 'create_commit_status', 'read_pipeline', 'read_job', 'admin_variable'],
        ...['read_environment', 'update_environment', 'read_deployment', 'update_deployment', 'remove_deployment'],
      ),
    )
    expect(changedBy(projectPolicy, without('container_registry'))).toEqual(
      all(
        refused,
        ...['read_container_image', 'create_container_image', 'destroy_container_image', 'admin_container_image'],
      ),
    )
  })
})

describe('abilities on groups', () => {
  // Source: supplement to the API documents, "Groups".
  matches('group', groupPolicy, [
    ['read_group', 'guest', 'anonymous'],
    ['read_member', 'guest', 'stranger'],
    ['create_project', 'maintainer', 'maintainer'],
    ['create_subgroup', 'owner', 'owner'],
    ['admin_group', 'owner', 'owner'],
    ['admin_member', 'owner', 'owner'],
    ['remove_group', 'owner', 'owner'],
    ['request_access', 'guest', 'stranger'],
    ['set_notifications', 'guest', 'stranger'],
    ['read_wiki', 'guest', 'guest'],
    ['create_wiki', 'developer', 'developer'],
    ['admin_wiki', 'maintainer', 'maintainer'],
    ['read_badge', 'guest', 'anonymous'],
    ['admin_badge', 'owner', 'owner'],
    ['admin_hook', 'owner', 'owner'],
    ['export_group', 'owner', 'owner'],
    ['read_deploy_token', 'maintainer', 'maintainer'],
    ['admin_deploy_token', 'owner', 'owner'],
    ['admin_access_token', 'owner', 'owner'],
    ['admin_variable', 'owner', 'owner'],
    ['admin_custom_attribute', 'administrator', 'administrator'],
    ['search_group', 'guest', 'stranger'],
    ['list_issues', 'guest', 'stranger'],
    ['list_epics', 'guest', 'stranger'],
    ['create_epic', 'reporter', 'reporter'],
    ['list_merge_requests', 'guest', 'stranger'],
    ['read_label', 'guest', 'anonymous'],
    ['admin_label', 'reporter', 'reporter'],
    ['subscribe_to_label', 'guest', 'stranger'],
    ['read_milestone', 'guest', 'anonymous'],
    ['list_container_images', 'reporter', 'reporter'],
    ['admin_milestone', 'developer', 'developer'],
    ['read_board', 'guest', 'stranger'],
    ['admin_board', 'reporter', 'reporter'],
    ['rotate_own_token', 'guest', 'guest'],
    ['admin_push_rule', 'owner', 'owner'],
    ['read_audit_event', 'owner', 'owner'],
    ['transfer_group', 'owner', 'owner'],
    ['receive_project', 'administrator', 'administrator'],
  ])

  test('users who read a project inside a private group read the group', () => {
    expect(changedBy(groupPolicy, flag('reads_project_inside'))).toEqual({
      ...all('stranger, anonymous', 'read_group', 'read_label', 'read_milestone', 'read_badge'),
      ...all(forUsers, 'read_member', 'search_group', 'request_access', 'set_notifications'),
      ...all(forUsers, 'list_issues', 'list_merge_requests', 'subscribe_to_label', 'read_board'),
    })
  })

  test('a group lets developers create projects, or no one, and maintainers create subgroups', () => {
    expect(changedBy(groupPolicy, flag('developers_create_projects'))).toEqual(all(forUsers, 'create_project'))
    expect(changedBy(groupPolicy, flag('nobody_creates_projects'))).toEqual(all(refused, 'create_project'))
    expect(changedBy(groupPolicy, flag('maintainers_create_subgroups'))).toEqual(all(forUsers, 'create_subgroup'))
  })

  test('nothing is written into a group while an archive is being imported into it', () => {
    expect(changedBy(groupPolicy, flag('importing'))).toEqual(
      all(
        refused,
        ...[
          'create_project',
          'create_subgroup',
          'create_epic',
          'admin_label',
          'admin_milestone',
          'admin_board',
          'admin_badge',
        ],
        ...['create_wiki', 'admin_wiki', 'export_group'],
      ),
    )
  })
})

describe('abilities on the instance and on users', () => {
  matches('instance', instancePolicy, [
    ['browse', 'owner', 'anonymous'],
    ['browse_people', 'owner', 'anonymous'],
    ['know_oneself', 'owner', 'stranger'],
    ['read_version', 'owner', 'stranger'],
    ['use', 'owner', 'stranger'],
    ['administer', 'owner', 'owner'],
    ['admin_variable', 'administrator', 'administrator'],
    ['admin_hook', 'administrator', 'administrator'],
  ])

  matches('user', userPolicy, [
    ['read_user', 'owner', 'anonymous'],
    ['follow_user', 'owner', 'stranger'],
    ['admin_user', 'owner', 'owner'],
    ['admin_custom_attribute', 'administrator', 'administrator'],
  ])

  test('signed-in users read and follow users wherever users are hidden from others', () => {
    expect(changedBy(userPolicy, flag('signed_in'))).toEqual({
      read_user: 'stranger, anonymous',
      follow_user: forUsers,
    })
  })

  test('tokens limited to projects or groups only browse, and read themselves and the version', () => {
    const limited = { ...actor, limits: {} }
    const allowed = Object.entries<Rule>(instancePolicy).filter(([, rule]) => allows(rule, limited, instanceFacts))
    expect(allowed.map(([ability]) => ability)).toEqual(['browse', 'know_oneself', 'read_version'])
  })

  test('anyone may browse, signed-in users may use, administrators may administer', () => {
    const of = (rule: Rule) => least(rule, instanceFacts.visibility)
    expect([of(instancePolicy.browse), of(instancePolicy.use)]).toEqual(['anonymous', 'stranger'])
    expect(allows(instancePolicy.administer, actor, instanceFacts)).toBe(false)
    expect(allows(instancePolicy.administer, admin, instanceFacts)).toBe(true)
  })

  test('anyone reads users; signed-in callers, external ones included, read hidden users', () => {
    const hidden: Facts = { visibility: 10, level: 0, features: {}, flags: {} }
    const signedIn = { ...hidden, flags: { signed_in: true } }
    expect(allows(userPolicy.read_user, null, { ...hidden, visibility: 20 })).toBe(true)
    expect(allows(userPolicy.read_user, null, hidden)).toBe(false)
    expect(allows(userPolicy.read_user, { ...actor, external: true }, signedIn)).toBe(true)
    expect(allows(userPolicy.admin_user, actor, signedIn)).toBe(false)
    expect(allows(userPolicy.admin_user, admin, signedIn)).toBe(true)
  })
})
