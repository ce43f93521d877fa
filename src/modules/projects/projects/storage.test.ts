import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import { repositoriesDir } from '../../../config.ts'

test('administrators choose the storage of a new project; for others the parameter has no effect', async ({
  world,
}) => {
  const ann = await world.user()
  await mkdir(join(repositoriesDir(world.config), 'chosen'), { recursive: true })
  const sent = (repository_storage: string) => ({ name: unique('stored'), repository_storage })
  const made = await world.root.post('/projects', { ...sent('chosen'), initialize_with_readme: true })
  expect(made).toMatchObject({ status: 201, json: { repository_storage: 'chosen', empty_repo: false } })
  expect((await world.root.post(`/projects/user/${ann.id}`, sent('chosen'))).json.repository_storage).toBe('chosen')
  for (const unknown of ['elsewhere', '..'])
    expect(await world.root.post('/projects', sent(unknown))).toMatchObject({
      status: 400,
      json: { message: { repository_storage: ['is not included in the list'] } },
    })
  const { id } = (await ann.post('/projects', sent('chosen'))).json
  expect((await world.root.get(`/projects/${id}`)).json.repository_storage).toBe('default')
})

test('the storage of a project cannot be changed, and an administrator who tries gets an error', async ({ world }) => {
  const ann = await world.user()
  const { id } = await world.project({ members: [[ann, 'maintainer']] })
  expect(await world.root.put(`/projects/${id}`, { repository_storage: 'elsewhere' })).toMatchObject({
    status: 400,
    json: { message: { repository_storage: ['cannot be changed: a repository stays where it is'] } },
  })
  for (const [who, repository_storage] of [
    [world.root, 'default'],
    [world.root, ''],
    [ann, 'elsewhere'],
  ] as const)
    expect((await who.put(`/projects/${id}`, { repository_storage })).status).toBe(200)
  expect((await world.root.get(`/projects/${id}`)).json.repository_storage).toBe('default')
})
