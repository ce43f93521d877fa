import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'

const gate = (key: string, value: unknown) => ({ key, value })

describe('feature flags', () => {
  test('403 for feature flags unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    for (const ask of [
      () => ann.get('/features'),
      () => ann.post('/features/x', { value: true }),
      () => ann.delete('/features/x'),
    ])
      expect(await ask()).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await world.anonymous.get('/features')).status).toBe(401)
  })

  test('a feature flag is on, off or conditional', async ({ world }) => {
    const [name, ann, project] = [unique('feature'), await world.user(), await world.project()]
    const send = async (input: object) => (await world.root.post(`/features/${name}`, input)).json
    const off = { name, state: 'off', gates: [gate('boolean', false)] }
    expect(await send({ value: 'true' })).toEqual({ name, state: 'on', gates: [gate('boolean', true)] })
    expect(await send({ value: false })).toEqual(off)
    expect(await send({ value: 30 })).toEqual({
      name,
      state: 'conditional',
      gates: [gate('boolean', false), gate('percentage_of_time', 30)],
    })
    expect((await send({ value: '100', key: 'percentage_of_actors' })).state).toBe('on')
    await send({ value: 0 })
    expect(
      await send({ value: true, user: ann.username, project: project.full_path, feature_group: 'testers' }),
    ).toEqual({
      name,
      state: 'conditional',
      gates: [
        gate('boolean', false),
        gate('actors', [`User:${ann.id}`, `Project:${project.id}`]),
        gate('groups', ['testers']),
      ],
    })
    expect((await send({ value: false, user: ann.username })).gates).toContainEqual(
      gate('actors', [`Project:${project.id}`]),
    )
    expect(await send({ value: false })).toEqual(off)
    expect((await world.root.get('/features')).json).toContainEqual(off)
    expect((await world.root.delete(`/features/${name}`)).status).toBe(204)
    expect((await world.root.get('/features')).json).not.toContainEqual(off)
  })

  test('a feature flag with empty actors is on for all, as the Go library sends it', async ({ world }) => {
    const name = unique('feature')
    const input = { value: true, key: '', feature_group: '', user: '', group: '', project: '' }
    expect(await world.root.post(`/features/${name}`, input)).toMatchObject({
      status: 201,
      json: { state: 'on', gates: [gate('boolean', true)] },
    })
  })

  test('400 for invalid values of a feature flag, 404 for unknown users', async ({ world }) => {
    expect(await world.root.post('/features/x', {})).toMatchObject({ status: 400, json: { error: 'value is missing' } })
    for (const value of ['perhaps', 101, '-1'])
      expect(await world.root.post('/features/x', { value })).toMatchObject({
        status: 400,
        json: { error: 'value does not have a valid value' },
      })
    expect(await world.root.post('/features/x', { value: true, user: unique('missing') })).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
    expect((await world.root.get('/features')).json).not.toContainEqual(expect.objectContaining({ name: 'x' }))
  })

  test('the limit on projects shown with a group is a feature flag', async ({ world }) => {
    await world.settings({})
    const limited = async () => (await world.root.get('/application/settings')).json.limit_projects_in_groups_api
    expect(await limited()).toBe(true)
    await world.root.post('/features/limit_projects_in_groups_api', { value: false })
    expect(await limited()).toBe(false)
    await world.root.post('/features/limit_projects_in_groups_api', { value: 100, key: 'percentage_of_actors' })
    expect(await limited()).toBe(true)
    await world.root.post('/features/limit_projects_in_groups_api', { value: false })
    expect(await limited()).toBe(false)
    await world.root.delete('/features/limit_projects_in_groups_api')
    expect(await limited()).toBe(true)
  })
})
