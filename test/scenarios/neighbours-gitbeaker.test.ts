import { Gitlab } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

test('@gitbeaker/rest discusses commits and reads templates, import status and more', async ({ world }) => {
  const api = new Gitlab({ host: world.origin, token: world.root.token! })
  const group = await world.group()
  const { id } = await world.project({ group })
  const first = await api.Commits.create(id, 'main', 'Begin', [{ action: 'create', filePath: 'a', content: 'one\n' }])
  const second = await api.Commits.create(id, 'main', 'Go on', [{ action: 'update', filePath: 'a', content: 'two\n' }])

  const position = {
    baseSha: first.id,
    startSha: first.id,
    headSha: second.id,
    positionType: 'text' as const,
    newPath: 'a',
    oldPath: 'a',
    newLine: '1',
  }
  const discussion = await api.CommitDiscussions.create(id, second.id, 'Two?', { position })
  expect(discussion.notes?.[0]).toMatchObject({
    type: 'DiffNote',
    position: { new_path: 'a', new_line: 1, old_line: null },
  })
  const note = await api.CommitDiscussions.addNote(id, second.id, discussion.id, 'Yes')
  await api.CommitDiscussions.editNote(id, second.id, discussion.id, note.id, { body: 'Yes, two' })
  expect((await api.CommitDiscussions.show(id, second.id, discussion.id)).notes?.map(({ body }) => body)).toEqual([
    'Two?',
    'Yes, two',
  ])
  await api.CommitDiscussions.removeNote(id, second.id, discussion.id, note.id)
  expect(await api.CommitDiscussions.all(id, second.id)).toHaveLength(1)
  expect(await api.Commits.showSequence(id, second.id)).toEqual({ count: 2 })

  await api.ProjectReleases.create(id, { tagName: 'v1', ref: 'main', description: 'First' })
  expect(await api.ProjectReleases.showLatest(id)).toMatchObject({ tag_name: 'v1' })

  expect(await api.Namespaces.exists(group.path)).toMatchObject({ exists: true })
  expect((await api.GitignoreTemplates.all()).map(({ key }) => key)).toContain('Go')
  expect((await api.GitignoreTemplates.show('Go')).content).toContain('*.test')
  expect((await api.ProjectTemplates.show(id, 'licenses', 'mit', { fullname: 'Ann' })).content).toContain('Ann')
  expect(await api.ProjectTemplates.all(id, 'licenses')).toContainEqual({ key: 'mit', name: 'mit' })
  expect(await api.ProjectImportExports.showImportStatus(id)).toMatchObject({ import_status: 'none' })
})
