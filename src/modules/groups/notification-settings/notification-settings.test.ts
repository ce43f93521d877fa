import { describe, expect } from 'vitest'
import { test, unique, type World } from '../../../../test/world.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { insertMember } from '../members/queries.ts'

const bases = ['groups', 'projects'] as const
const path = (base: string, { id }: { id: number }) => `/${base}/${id}/notification_settings`
const holderIn = (world: World, base: (typeof bases)[number], more = {}) =>
  base === 'groups' ? world.group(more) : world.project(more)

describe('global notification settings', () => {
  test('the default is participating with the primary e-mail', async ({ world }) => {
    const ann = await world.user()
    const email = `${ann.username}@example.com`
    expect((await ann.get('/notification_settings')).json).toEqual({
      level: 'participating',
      notification_email: email,
    })
    expect(await ann.put('/notification_settings', { level: 'watch' })).toMatchObject({
      status: 200,
      json: { level: 'watch', notification_email: email },
    })
    expect((await ann.get('/notification_settings')).json.level).toBe('watch')
    expect((await (await world.user()).get('/notification_settings')).json.level).toBe('participating')
  })

  test('400 for an invalid level or an e-mail of another user', async ({ world }) => {
    const ann = await world.user()
    const other = await world.user()
    expect(await ann.put('/notification_settings', { level: 'global' })).toMatchObject({
      status: 400,
      json: { error: 'level does not have a valid value' },
    })
    expect(
      await ann.put('/notification_settings', { notification_email: `${other.username}@example.com` }),
    ).toMatchObject({ status: 400, json: { message: { notification_email: ['must be an email you have verified'] } } })
    const own = `${ann.username}@example.com`
    expect((await ann.put('/notification_settings', { notification_email: own })).json.notification_email).toBe(own)
    const further = async (skip_confirmation: boolean) => {
      const email = `${unique('further')}@example.com`
      return (await world.root.post(`/users/${ann.id}/emails`, { email, skip_confirmation })).json
    }
    const [confirmed, unconfirmed] = [await further(true), await further(false)]
    const choose = (email: string) => ann.put('/notification_settings', { notification_email: email })
    expect((await choose(unconfirmed.email)).status).toBe(400)
    expect(await choose(confirmed.email)).toMatchObject({
      status: 200,
      json: { notification_email: confirmed.email },
    })
    await ann.delete(`/user/emails/${confirmed.id}`)
    expect((await ann.get('/notification_settings')).json.notification_email).toBe(own)
    expect((await world.anonymous.get('/notification_settings')).status).toBe(401)
    expect((await world.anonymous.put('/notification_settings', { level: 'watch' })).status).toBe(401)
  })
})

describe.for(bases)('notification settings of %s', (base) => {
  test('a project or group has the level global until the user sets another', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const settings = path(base, await holderIn(world, base, { visibility: 'public' }))
    expect((await ann.get(settings)).json).toEqual({ level: 'global' })
    for (const level of ['disabled', 'participating', 'watch', 'mention', 'global'])
      expect((await ann.put(settings, { level })).json).toEqual({ level })
    await ann.put(settings, { level: 'disabled' })
    expect((await bob.get(settings)).json).toEqual({ level: 'global' })
    expect((await ann.put(settings, { level: 'loud' })).json).toEqual({ error: 'level does not have a valid value' })
  })

  test('the level custom sets the given events and keeps the others', async ({ world }) => {
    const ann = await world.user()
    const settings = path(base, await holderIn(world, base, { visibility: 'public' }))
    const custom = await ann.put(settings, { level: 'custom', new_note: true, failed_pipeline: false })
    expect(custom.json).toMatchObject({
      level: 'custom',
      events: { new_note: true, failed_pipeline: false, fixed_pipeline: true, new_issue: false },
    })
    expect((await ann.put(settings, { new_issue: true })).json.events).toMatchObject({
      new_note: true,
      new_issue: true,
    })
    expect(await ann.put(settings, { new_note: 'maybe' })).toMatchObject({ json: { error: 'new_note is invalid' } })
    // Another level hides the custom events and keeps them.
    expect((await ann.put(settings, { level: 'watch' })).json).toEqual({ level: 'watch' })
    expect((await ann.put(settings, { level: 'custom' })).json.events.new_note).toBe(true)
  })

  test('404 for notification settings of hidden projects and groups, 401 for anonymous callers', async ({ world }) => {
    const ann = await world.user()
    const closed = path(base, await holderIn(world, base))
    expect((await ann.get(closed)).status).toBe(404)
    expect((await ann.put(closed, { level: 'watch' })).status).toBe(404)
    const open = path(base, await holderIn(world, base, { visibility: 'public' }))
    expect((await world.anonymous.get(open)).status).toBe(401)
    expect((await world.anonymous.put(open, { level: 'watch' })).status).toBe(401)
  })

  test('concurrent changes of notification settings all succeed', async ({ world }) => {
    const settings = path(base, await holderIn(world, base))
    const answers = await Promise.all(
      ['watch', 'mention', 'disabled'].map((level) => world.root.put(settings, { level })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('permissions of a project record', () => {
  test.for(bases)('a new member of %s has the level that they set while they were added', async (base, { world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public' })
    const project = await world.project({ group, visibility: 'public' })
    const holder = base === 'groups' ? group : project
    const source =
      base === 'groups'
        ? { of: 'group' as const, groupId: group.id, ancestorIds: [group.id] }
        : { of: 'project' as const, projectId: project.id, ancestorIds: [group.id] }
    const { change } = await world.db.transaction(async (tx) => {
      await lockAccess(tx)
      await insertMember(tx, source, { userId: ann.id, level: 20, expiresAt: null, createdBy: null })
      const change = ann.put(path(base, holder), { level: 'watch' })
      await world.waitsForLock()
      return { change }
    })
    expect((await change).json).toEqual({ level: 'watch' })
    const { permissions } = (await ann.get(`/projects/${project.id}`)).json
    expect(permissions[base === 'groups' ? 'group_access' : 'project_access']).toEqual({
      access_level: 20,
      notification_level: 2,
    })
  })

  test('a project record has the notification level of members, set before or after joining', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public' })
    const project = await world.project({ group, visibility: 'public' })
    const shown = async () => (await ann.get(`/projects/${project.id}`)).json.permissions
    await ann.put(path('projects', project), { level: 'watch' })
    for (const place of [`/projects/${project.id}`, `/groups/${group.id}`])
      await world.root.post(`${place}/members`, { user_id: ann.id, access_level: 20 })
    expect(await shown()).toEqual({
      project_access: { access_level: 20, notification_level: 2 },
      group_access: { access_level: 20, notification_level: 3 },
    })
    await ann.put(path('groups', group), { level: 'mention' })
    await ann.put(path('projects', project), { level: 'custom' })
    expect(await shown()).toEqual({
      project_access: { access_level: 20, notification_level: 5 },
      group_access: { access_level: 20, notification_level: 4 },
    })
  })
})
