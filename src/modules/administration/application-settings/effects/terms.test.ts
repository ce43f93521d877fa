import { expect } from 'vitest'
import { type TestProject, test } from '../../../../../test/world.ts'
import { basic, refs } from './testing.ts'

test('D2-SETTINGS-TERMS: 403 with enforce_terms until the user accepts the terms', async ({ world }) => {
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
