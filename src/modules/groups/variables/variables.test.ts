import { describe, expect } from 'vitest'
import { auditWithFact, eventsOf } from '../../../../test/tables/events.ts'
import { variablesOf } from '../../../../test/tables/groups.ts'
import { type Client, test, type World } from '../../../../test/world.ts'

const bases = ['groups', 'projects'] as const

async function placeIn(world: World, base: (typeof bases)[number], more = {}): Promise<string> {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return `/${base}/${made.id}/variables`
}

const none = { status: 404, json: { message: '404 Variable Not Found' } }

describe.for(bases)('variables of %s', (base) => {
  test('variables are created, listed, read, changed and deleted', async ({ world }) => {
    const variables = await placeIn(world, base)
    const made = await world.root.post(variables, { key: 'TOKEN', value: 'hunter2' })
    const record = {
      variable_type: 'env_var',
      key: 'TOKEN',
      value: 'hunter2',
      protected: false,
      masked: false,
      hidden: false,
      raw: false,
      description: null,
      environment_scope: '*',
    }
    expect(made.status).toBe(201)
    expect(made.json).toEqual(record)
    expect((await world.root.get(variables)).json).toEqual([record])
    expect((await world.root.get(`${variables}/TOKEN`)).json).toEqual(record)
    const changes = { value: 'a\nb', variable_type: 'file', protected: true, raw: true, description: 'for deploys' }
    expect(await world.root.put(`${variables}/TOKEN`, changes)).toMatchObject({
      status: 200,
      json: { ...record, ...changes },
    })
    // Absent attributes keep their values.
    expect((await world.root.put(`${variables}/TOKEN`, { protected: false })).json).toEqual({
      ...record,
      ...changes,
      protected: false,
    })
    expect((await world.root.delete(`${variables}/TOKEN`)).status).toBe(204)
    expect(await world.root.get(`${variables}/TOKEN`)).toMatchObject(none)
    expect(await world.root.put(`${variables}/TOKEN`, { value: '1' })).toMatchObject(none)
    expect(await world.root.delete(`${variables}/TOKEN`)).toMatchObject(none)
  })

  test('variables with the same key are distinguished by the environment scope filter', async ({ world }) => {
    const variables = await placeIn(world, base)
    const make = (environment_scope: string, value: string) =>
      world.root.post(variables, { key: 'HOST', value, environment_scope })
    await make('production', 'p')
    await make('review/*', 'r')
    expect(await make('production', 'again')).toMatchObject({
      status: 400,
      json: { message: { key: ['(HOST) has already been taken'] } },
    })
    const one = `${variables}/HOST`
    const several = {
      status: 409,
      json: {
        message: "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
      },
    }
    expect(await world.root.get(one)).toMatchObject(several)
    expect(await world.root.put(one, { value: 'x' })).toMatchObject(several)
    expect(await world.root.delete(one)).toMatchObject(several)
    const review = `${one}?filter[environment_scope]=review%2F*`
    expect((await world.root.get(review)).json).toMatchObject({ value: 'r', environment_scope: 'review/*' })
    expect((await world.root.put(review, { value: 'r2' })).json).toMatchObject({ value: 'r2' })
    const taken = await world.root.put(one, {
      environment_scope: 'production',
      filter: { environment_scope: 'review/*' },
    })
    expect(taken.status).toBe(400)
    expect((await world.root.delete(review)).status).toBe(204)
    expect(await world.root.get(review)).toMatchObject(none)
    expect((await world.root.get(one)).json).toMatchObject({ value: 'p' })
  })

  test('400 for invalid variables, on creation and change', async ({ world }) => {
    const variables = await placeIn(world, base)
    await world.root.post(variables, { key: 'K', value: 'short' })
    for (const [body, json] of [
      [{}, { error: 'key is missing, value is missing' }],
      [{ key: 'a-b', value: '' }, { message: { key: ["can contain only letters, digits and '_'."] } }],
      [{ key: 'x'.repeat(256), value: '' }, { message: { key: ['is too long (maximum is 255 characters)'] } }],
      [{ key: 'A', value: 'x'.repeat(65_537) }, { message: { value: ['is too long (maximum is 65536 characters)'] } }],
      [{ key: 'A', value: '', variable_type: 'x' }, { error: 'variable_type does not have a valid value' }],
      [{ key: 'A', value: '', environment_scope: '' }, { message: { environment_scope: ["can't be blank"] } }],
      [{ key: 'A', value: '', environment_scope: 'a;b' }, { message: { environment_scope: [expect.any(String)] } }],
    ] as const)
      expect(await world.root.post(variables, body)).toMatchObject({ status: 400, json })
    expect(await world.root.put(`${variables}/K`, { masked: true })).toMatchObject({
      status: 400,
      json: { message: { value: ['is invalid'] } },
    })
  })

  test.for([
    ['12345678', 201],
    ['abc+/=@:.~-_', 201],
    ['1234567', 400],
    ['with blank', 400],
    ['two\nlines of it', 400],
    ['dollar$sign', 400],
  ] as const)('masked variable with the value %s: %i', async ([value, status], { world }) => {
    const variables = await placeIn(world, base)
    expect((await world.root.post(variables, { key: 'M', value, masked: true })).status).toBe(status)
  })

  test('no response shows the value of a variable that was created as masked and hidden', async ({ world }) => {
    const variables = await placeIn(world, base)
    const input = { key: 'H', value: 'hunter2-hunter2', masked: false, masked_and_hidden: true }
    const made = await world.root.post(variables, input)
    const record = { key: 'H', value: null, masked: true, hidden: true, environment_scope: '*' }
    expect(made).toMatchObject({ status: 201, json: record })
    const one = `${variables}/H`
    const changed = await world.root.put(one, { value: 'other-than-before', description: 'for deploys' })
    expect(changed).toMatchObject({ status: 200, json: { ...record, description: 'for deploys' } })
    const answers = [made, changed, await world.root.get(one), await world.root.get(variables)]
    answers.push(await world.root.put(one, { environment_scope: 'production' }), await world.root.delete(one))
    for (const { text } of answers) expect(text).not.toMatch(/hunter2|other-than/)
  })

  test.for([
    ['masked', { masked: false }, 400],
    ['masked, with another value', { masked: false, value: 'short' }, 400],
    ['hidden', { hidden: false }, 200],
    ['masked_and_hidden', { masked_and_hidden: false }, 200],
    ['value', { value: null }, 200],
  ] as const)('a hidden variable stays hidden when %s is changed', async ([, change, status], { world }) => {
    const variables = await placeIn(world, base)
    await world.root.post(variables, { key: 'H', value: 'hunter2-hunter2', masked_and_hidden: true })
    const answer = await world.root.put(`${variables}/H`, change)
    expect(answer.status).toBe(status)
    if (status === 400) expect(Object.keys(answer.json.message)).toEqual(['masked'])
    expect((await world.root.get(`${variables}/H`)).json).toMatchObject({ value: null, masked: true, hidden: true })
  })

  test('a variable that is not hidden cannot be hidden afterwards', async ({ world }) => {
    const variables = await placeIn(world, base)
    await world.root.post(variables, { key: 'H', value: 'hunter2-hunter2', masked: true })
    expect((await world.root.put(`${variables}/H`, { masked_and_hidden: true, hidden: true })).status).toBe(200)
    expect((await world.root.get(`${variables}/H`)).json).toMatchObject({ value: 'hunter2-hunter2', hidden: false })
  })

  test('400 for a hidden variable with a value that cannot be masked, on creation and change', async ({ world }) => {
    const variables = await placeIn(world, base)
    const refused = { status: 400, json: { message: { value: ['is invalid'] } } }
    const create = (value: string) => world.root.post(variables, { key: 'H', value, masked_and_hidden: true })
    expect(await create('short')).toMatchObject(refused)
    expect(await create('two\nlines of it')).toMatchObject(refused)
    expect((await create('long-enough')).status).toBe(201)
    expect(await world.root.put(`${variables}/H`, { value: 'short' })).toMatchObject(refused)
  })

  test('the values of variables are not readable in the database, audit events or events', async ({ world }) => {
    const variables = await placeIn(world, base)
    await world.root.post(variables, { key: 'SECRET_ONE', value: 'correct-horse-battery' })
    await world.root.put(`${variables}/SECRET_ONE`, { value: 'correct-horse-staple' })
    const id = variables.split('/')[2]
    const column = base === 'groups' ? 'namespace_id' : 'project_id'
    const rows = await variablesOf(world, column, Number(id))
    const audited = await auditWithFact(world, 'key', 'SECRET_ONE')
    expect(audited.map(({ event }) => event)).toContain('variable_updated')
    const events = await eventsOf(world, { kind: 'variable_%' }, 'payload')
    expect(JSON.stringify([rows, audited, events])).not.toContain('correct-horse')
    expect(rows[0].sealed_value).toMatch(/^v1:/)
  })

  test('one of several concurrent creations of a variable succeeds', async ({ world }) => {
    const variables = await placeIn(world, base)
    const answers = await Promise.all([1, 2, 3].map((value) => world.root.post(variables, { key: 'ONE', value })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  })

  test.for([
    { who: 'anonymous', status: 401 },
    { who: 'stranger', status: 403 },
    { who: 'developer', status: 403 },
    { who: 'maintainer', status: base === 'groups' ? 403 : 201 },
  ] as const)('variables are for managers: $who gets $status', async ({ who, status }, { world }) => {
    const ann = await world.user()
    const members = who === 'anonymous' || who === 'stranger' ? [] : [[ann, who]]
    const variables = await placeIn(world, base, { visibility: 'public', members })
    const caller: Client = who === 'anonymous' ? world.anonymous : ann
    expect((await caller.post(variables, { key: 'A', value: '1' })).status).toBe(status)
    for (const answer of [
      await caller.get(variables),
      await caller.get(`${variables}/A`),
      await caller.put(`${variables}/A`, { value: '2' }),
    ])
      expect(answer.status).toBe(status === 201 ? 200 : status)
    expect((await caller.delete(`${variables}/A`)).status).toBe(status === 201 ? 204 : status)
  })
})

describe('variables', () => {
  test('403 for variables of a project with builds disabled', async ({ world }) => {
    const project = await world.project({ builds_access_level: 'disabled' })
    expect((await world.root.get(`/projects/${project.id}/variables`)).status).toBe(403)
  })

  test('administrators manage instance variables, which have no environment scope', async ({ world }) => {
    const variables = '/admin/ci/variables'
    const made = await world.root.post(variables, { key: 'EVERYWHERE', value: 'v', environment_scope: 'production' })
    expect(made.status).toBe(201)
    expect(made.json).not.toHaveProperty('environment_scope')
    expect((await world.root.post(variables, { key: 'EVERYWHERE', value: 'v' })).status).toBe(400)
    expect((await world.root.get(variables)).json).toContainEqual(made.json)
    expect((await world.root.put(`${variables}/EVERYWHERE`, { value: 'w' })).json.value).toBe('w')
    const ann = await world.user()
    expect((await ann.get(variables)).status).toBe(403)
    expect((await ann.post(variables, { key: 'A', value: 'v' })).status).toBe(403)
    expect((await world.anonymous.get(`${variables}/EVERYWHERE`)).status).toBe(401)
    expect((await world.root.delete(`${variables}/EVERYWHERE`)).status).toBe(204)
    expect(await world.root.get(`${variables}/EVERYWHERE`)).toMatchObject(none)
  })

  test('new variables are protected by default with protected_ci_variables', async ({ world }) => {
    const variables = await placeIn(world, 'projects')
    await world.settings({ protected_ci_variables: true })
    try {
      expect((await world.root.post(variables, { key: 'A', value: '1' })).json.protected).toBe(true)
      expect((await world.root.post(variables, { key: 'B', value: '1', protected: false })).json.protected).toBe(false)
    } finally {
      await world.settings({ protected_ci_variables: false })
    }
  })
})
