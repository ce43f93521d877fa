import { GroupWikis, ProjectWikis } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

test('@gitbeaker/rest writes wikis of projects and groups, and uploads attachments', async ({ world }) => {
  const ann = await world.user()
  const { id } = await world.project({ members: [[ann, 'maintainer']] })
  const wikis = new ProjectWikis({ host: world.origin, token: ann.token! })
  expect(await wikis.all(id)).toEqual([])
  const page = await wikis.create(id, '# How to', 'docs/How to', { format: 'markdown' })
  expect(page).toMatchObject({ slug: 'docs/How-to', title: 'How to', format: 'markdown', content: '# How to' })
  expect(await wikis.edit(id, page.slug, { title: 'Guide' })).toMatchObject({ slug: 'docs/Guide', content: '# How to' })
  await wikis.edit(id, 'docs/Guide', { content: 'Guide' } as never)
  expect(await wikis.show(id, 'docs/Guide')).toMatchObject({ content: 'Guide', encoding: 'UTF-8' })
  expect(await wikis.all(id, { withContent: true })).toMatchObject([{ slug: 'docs/Guide', content: 'Guide' }])
  const attached = await wikis.uploadAttachment(id, { content: new Blob(['text']), filename: 'notes.txt' })
  expect(attached).toMatchObject({ file_name: 'notes.txt', branch: 'master', link: { url: attached.file_path } })
  await wikis.remove(id, 'docs/Guide')
  expect(await wikis.all(id)).toEqual([])

  const group = await world.group()
  const ofGroup = new GroupWikis({ host: world.origin, token: world.root.token! })
  await ofGroup.create(group.id, 'text', 'home')
  expect(await ofGroup.all(group.id)).toMatchObject([{ slug: 'home' }])
  await ofGroup.remove(group.id, 'home')
})
