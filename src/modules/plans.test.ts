import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planOfGroup } from '../../test/tables/groups.ts'
import { projectRow } from '../../test/tables/projects.ts'
import { noteOnUser } from '../../test/tables/users.ts'
import { type Client, World } from '../../test/world.ts'
import type { Plan } from '../kernel/plan.ts'

const groupMinutes = ['extra_shared_runners_minutes_limit', 'shared_runners_minutes_limit']
const projectStarter = [
  'approvals_before_merge',
  'mirror',
  'mirror_user_id',
  'mirror_trigger_builds',
  'only_mirror_protected_branches',
  'mirror_overwrites_diverged_branches',
]
const projectPremium = [
  'compliance_frameworks',
  'external_authorization_classification_label',
  'marked_for_deletion_at',
  'marked_for_deletion_on',
]

const has = (record: object, names: readonly string[]) => names.map((name) => name in record)

describe.for(['free', 'starter', 'premium'] as const)('D1-TIER-OFFER: on the plan %s', (plan: Plan) => {
  let world: World
  let ann: Client
  beforeAll(async () => {
    world = await World.start({ STITHY_PLAN: plan })
    ann = await world.user()
  })
  afterAll(() => world[Symbol.asyncDispose]())
  const starter = plan !== 'free'
  const premium = plan === 'premium'

  test('D2-GROUP-MINUTES: groups have the fields of the plan', async () => {
    const sent = { name: plan, path: plan, shared_runners_minutes_limit: 7, extra_shared_runners_minutes_limit: 8 }
    const made = await world.root.post('/groups', sent)
    expect(made.status).toBe(201)
    const template = await world.project()
    const edited = await world.root.put(`/groups/${made.json.id}`, {
      membership_lock: true,
      file_template_project_id: template.id,
    })
    const [listed] = (await world.root.get(`/groups?search=${plan}`)).json
    for (const record of [made.json, edited.json, listed, (await world.root.get(`/groups/${made.json.id}`)).json])
      expect(has(record, [...groupMinutes, 'membership_lock'])).toEqual([starter, starter, starter])
    const [row] = await planOfGroup(world, made.json.id)
    expect(row).toEqual({
      minutes: starter ? 7 : null,
      membership_lock: starter,
      template: premium ? template.id : null,
    })
  })

  test('projects have the fields and parameters of the plan', async () => {
    const sent = { approvals_before_merge: 3, external_authorization_classification_label: 'x' }
    const made = await ann.post('/projects', { name: 'P', ...sent })
    expect(made.status).toBe(201)
    expect(has(made.json, projectStarter)).toEqual(projectStarter.map(() => starter))
    expect(has(made.json, projectPremium)).toEqual(projectPremium.map(() => premium))
    expect(made.json.service_desk_enabled).toBe(premium ? true : null)
    const [{ settings }] = await projectRow(world, made.json.id, 'settings')
    expect(has(settings, Object.keys(sent))).toEqual([starter, premium])
    // Below the plan the parameter is an unknown name.
    const refused = await ann.put(`/projects/${made.json.id}`, { external_authorization_classification_label: 'y' })
    expect(refused.status).toBe(premium ? 200 : 400)
    if (!premium) expect(refused.json.error).not.toContain('external_authorization')
  })

  test('D3-USERS-PLAN-FIELDS: accounts have the fields of the plan', async () => {
    const [listed] = (await world.root.get(`/users?username=${ann.username}`)).json
    for (const record of [listed, (await world.root.get(`/users/${ann.id}`)).json])
      expect(has(record, [...groupMinutes, 'note'])).toEqual([starter, starter, starter])
    expect(has((await ann.get('/user')).json, groupMinutes)).toEqual([starter, starter])
    const sent = { name: 'N', username: 'noted', email: 'n@example.com', password: 'correct horse', note: 'hello' }
    const made = await world.root.post('/users', sent)
    expect(made.json.note).toBe(starter ? 'hello' : undefined)
    expect(await noteOnUser(world, 'noted')).toEqual([{ note: starter ? 'hello' : null }])
  })

  test(`${premium ? 'D2-DELETE-MARKS: a deleted project is marked' : 'D2-DELETE-REMOVES: a deleted project is removed at once'}`, async () => {
    const project = await world.project()
    expect((await world.root.delete(`/projects/${project.id}`)).status).toBe(202)
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(premium ? 200 : 404)
  })

  test('a project can be restored on plans with delayed deletion only', async () => {
    const project = await world.project()
    const restored = await world.root.post(`/projects/${project.id}/restore`)
    expect(restored).toMatchObject(premium ? { status: 400 } : { status: 404, json: { error: '404 Not Found' } })
    expect((await world.root.get(`/projects/${project.id}/restore`)).status).toBe(premium ? 405 : 404)
  })

  test('settings of a higher plan have no effect', async () => {
    await world.settings({ max_personal_access_token_lifetime: 5, email_additional_text: 'Be kind.' })
    const { settings } = await world.app.open(null)
    expect(settings.email_additional_text).toBe(premium ? 'Be kind.' : null)
    const made = await world.root.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
    expect(made.json.expires_at).toBe(null)
    await world.restoreSettings()
  })

  test('metadata shows whether the plan is above free', async () => {
    expect((await ann.get('/metadata')).json.enterprise).toBe(starter)
  })
})
