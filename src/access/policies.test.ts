import { describe, expect, test } from 'vitest'
import type { Actor, Caller } from './actor.ts'
import { groupPolicy } from './group-policy.ts'
import { instanceFacts, instancePolicy } from './instance-policy.ts'
import { levels } from './levels.ts'
import { allows, type Facts, type Rule } from './policy.ts'
import { projectPolicy } from './project-policy.ts'
import { userPolicy } from './user-policy.ts'

const actor = { admin: false, external: false } as Actor
const admin = { ...actor, admin: true }

/** In ascending order: a rule that allows one of these allows all after it. */
const ladder = [
  'anonymous',
  'stranger',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'administrator',
] as const
type Step = (typeof ladder)[number]

const callerOf = (step: Step): Caller => (step === 'anonymous' ? null : step === 'administrator' ? admin : actor)
const levelOf = (step: Step): number => (step in levels ? levels[step as keyof typeof levels] : 0)
const on = { issues: 20, repository: 20, forking: 20, merge_requests: 20, builds: 20, wiki: 20, snippets: 20 }

/** The lowest role that has access at this visibility; `never` when not even administrators have. */
function least(rule: Rule, visibility: number, more: Partial<Facts> = {}): Step | 'never' {
  const may = ladder.map((step) =>
    allows(rule, callerOf(step), { visibility, level: levelOf(step), features: on, flags: {}, ...more }),
  )
  const first = may.indexOf(true)
  expect(may.slice(first === -1 ? may.length : first)).not.toContain(false)
  return first === -1 ? 'never' : ladder[first]!
}

describe('abilities on projects', () => {
  // Source: supplement to the API documents, "Matrix": the lowest role, on a private and on a public project.
  test.for([
    ['read_project', 'guest', 'anonymous'],
    ['read_code', 'reporter', 'anonymous'],
    ['read_statistics', 'reporter', 'reporter'],
    ['read_member', 'guest', 'stranger'],
    ['fork_project', 'reporter', 'stranger'],
    ['link_fork', 'owner', 'owner'],
    ['keep_house', 'maintainer', 'maintainer'],
    ['comment_commit', 'reporter', 'stranger'],
    ['read_commit_status', 'reporter', 'stranger'],
    ['create_commit_status', 'developer', 'developer'],
    ['read_pipeline', 'reporter', 'anonymous'],
    ['read_job', 'reporter', 'stranger'],
    ['push_code', 'developer', 'developer'],
    ['force_unlock', 'maintainer', 'maintainer'],
    ['admin_member', 'maintainer', 'maintainer'],
    ['admin_project', 'maintainer', 'maintainer'],
    ['request_access', 'guest', 'stranger'],
    ['set_notifications', 'guest', 'stranger'],
    ['read_badge', 'guest', 'anonymous'],
    ['admin_badge', 'maintainer', 'maintainer'],
    ['read_deploy_token', 'maintainer', 'maintainer'],
    ['admin_deploy_token', 'maintainer', 'maintainer'],
    ['admin_access_token', 'maintainer', 'maintainer'],
    ['admin_variable', 'maintainer', 'maintainer'],
    ['admin_custom_attribute', 'administrator', 'administrator'],
    ['rename_project', 'owner', 'owner'],
    ['change_visibility', 'owner', 'owner'],
    ['remove_project', 'owner', 'owner'],
  ] as const)('project ability %s: private from %s, public from %s', ([ability, onPrivate, onPublic]) => {
    expect(least(projectPolicy[ability], 0)).toBe(onPrivate)
    expect(least(projectPolicy[ability], 20)).toBe(onPublic)
  })

  test('signed-in users can read internal projects', () => {
    expect(least(projectPolicy.read_project, 10)).toBe('stranger')
    expect(least(projectPolicy.read_code, 10)).toBe('stranger')
  })

  test('archived projects refuse pushes, statuses and access requests', () => {
    for (const rule of [projectPolicy.push_code, projectPolicy.create_commit_status])
      expect(least(rule, 20, { flags: { archived: true } })).toBe('never')
    expect(least(projectPolicy.request_access, 20, { flags: { archived: true } })).toBe('never')
    expect(least(projectPolicy.admin_project, 20, { flags: { archived: true } })).toBe('maintainer')
  })

  test('without public jobs, jobs are for members and pipelines stay public', () => {
    const flags = { private_jobs: true }
    expect(least(projectPolicy.read_job, 20, { flags })).toBe('reporter')
    expect(least(projectPolicy.read_pipeline, 20, { flags })).toBe('anonymous')
  })

  test('no statuses, pipelines or jobs while builds are disabled', () => {
    const features = { ...on, builds: 0 }
    for (const ability of ['read_commit_status', 'create_commit_status', 'read_pipeline', 'read_job'] as const)
      expect(least(projectPolicy[ability], 20, { features })).toBe('never')
  })

  test('no pushes or forks while the repository of a project is being created', () => {
    for (const ability of ['push_code', 'admin_tag', 'fork_project'] as const)
      expect(least(projectPolicy[ability], 20, { flags: { importing: true } })).toBe('never')
    expect(least(projectPolicy.read_code, 20, { flags: { importing: true } })).toBe('anonymous')
  })

  test('code cannot be read or pushed while the repository feature is disabled', () => {
    const features = { ...on, repository: 0 }
    expect(least(projectPolicy.read_code, 20, { features })).toBe('never')
    expect(least(projectPolicy.push_code, 20, { features })).toBe('never')
  })
})

describe('abilities on groups', () => {
  // Source: supplement to the API documents, "Groups".
  test.for([
    ['read_group', 'guest', 'anonymous'],
    ['read_member', 'guest', 'stranger'],
    ['create_project', 'maintainer', 'maintainer'],
    ['create_subgroup', 'owner', 'owner'],
    ['admin_group', 'owner', 'owner'],
    ['admin_member', 'owner', 'owner'],
    ['remove_group', 'owner', 'owner'],
    ['request_access', 'guest', 'stranger'],
    ['set_notifications', 'guest', 'stranger'],
    ['read_badge', 'guest', 'anonymous'],
    ['admin_badge', 'owner', 'owner'],
    ['read_deploy_token', 'maintainer', 'maintainer'],
    ['admin_deploy_token', 'owner', 'owner'],
    ['admin_access_token', 'owner', 'owner'],
    ['admin_variable', 'owner', 'owner'],
    ['admin_custom_attribute', 'administrator', 'administrator'],
  ] as const)('group ability %s: private from %s, public from %s', ([ability, onPrivate, onPublic]) => {
    expect(least(groupPolicy[ability], 0)).toBe(onPrivate)
    expect(least(groupPolicy[ability], 20)).toBe(onPublic)
  })

  test('no one creates projects in a group that does not allow it', () => {
    expect(least(groupPolicy.create_project, 0, { flags: { nobody_creates_projects: true } })).toBe('never')
  })
})

describe('abilities on the instance and on users', () => {
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
