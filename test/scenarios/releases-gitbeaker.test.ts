import { Gitlab } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

test('@gitbeaker/rest creates, reads and removes releases', async ({ world }) => {
  const api = new Gitlab({ host: world.origin, token: world.root.token! })
  const { id } = await world.project()
  await api.Commits.create(id, 'main', 'Begin', [{ action: 'create', filePath: 'a', content: 'a' }])

  const made = await api.ProjectReleases.create(id, {
    tagName: 'v1.0.0',
    ref: 'main',
    description: 'First',
    assets: { links: [{ name: 'Setup', url: 'https://example.com/setup' }] },
  })
  expect(made).toMatchObject({ tag_name: 'v1.0.0', name: 'v1.0.0', assets: { links: [{ name: 'Setup' }] } })
  const link = await api.ReleaseLinks.create(id, 'v1.0.0', 'Notes', 'https://example.com/notes')
  await api.ReleaseLinks.edit(id, 'v1.0.0', link.id, { name: 'More' })
  expect((await api.ReleaseLinks.all(id, 'v1.0.0')).map(({ name }) => name)).toEqual(['More', 'Setup'])
  await api.ReleaseLinks.remove(id, 'v1.0.0', link.id)

  await api.ProjectReleases.edit(id, 'v1.0.0', { name: 'One' })
  expect(await api.ProjectReleases.show(id, 'v1.0.0')).toMatchObject({ name: 'One', assets: { count: 5 } })
  expect(await api.ProjectReleases.all(id)).toHaveLength(1)
  await api.ProjectReleases.remove(id, 'v1.0.0')
  expect(await api.ProjectReleases.all(id)).toEqual([])
  expect((await api.Tags.show(id, 'v1.0.0')).release).toBeNull()
})
