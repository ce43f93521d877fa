import {
  ProjectSnippetAwardEmojis,
  ProjectSnippetDiscussions,
  ProjectSnippetNotes,
  ProjectSnippets,
  Snippets,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

test('@gitbeaker/rest creates, changes and discusses snippets of projects and people', async ({ world }) => {
  const ann = await world.user()
  const { id } = await world.project({ visibility: 'public', members: [[ann, 'reporter']] })
  const options = { host: world.origin, token: ann.token! }

  const ofProject = new ProjectSnippets(options)
  const files = [{ filePath: 'a.rb', content: 'puts 1\n' }]
  const made = await ofProject.create(id, 'Hello', { files, visibility: 'public', description: 'Says *one*' } as never)
  expect(await ofProject.all(id)).toMatchObject([{ id: made.id, title: 'Hello', file_name: 'a.rb' }])
  const more = [{ action: 'create', filePath: 'b.rb', content: 'puts 2\n' }]
  await ofProject.edit(id, made.id, { title: 'Bye', files: more } as never)
  expect(await ofProject.show(id, made.id)).toMatchObject({ title: 'Bye', files: [{ path: 'a.rb' }, { path: 'b.rb' }] })
  expect(String(await ofProject.showContent(id, made.id))).toContain('puts 1')
  expect(String(await ofProject.showRepositoryFileContent(id, made.id, 'master', 'b.rb'))).toContain('puts 2')
  const asRoot = new ProjectSnippets({ host: world.origin, token: world.root.token! })
  expect(await asRoot.showUserAgentDetails(id, made.id)).toMatchObject({ akismet_submitted: false })

  const notes = new ProjectSnippetNotes(options)
  const note = await notes.create(id, made.id, 'Nice')
  await notes.edit(id, made.id, note.id, { body: 'Nicer' })
  expect(await notes.all(id, made.id)).toMatchObject([{ body: 'Nicer', noteable_type: 'Snippet' }])
  const discussions = new ProjectSnippetDiscussions(options)
  const discussion = await discussions.create(id, made.id, 'Why?')
  expect(await discussions.show(id, made.id, discussion.id)).toMatchObject({ notes: [{ body: 'Why?' }] })
  const awards = new ProjectSnippetAwardEmojis(options)
  const award = await awards.award(id, made.id, 'tada')
  expect(await awards.all(id, made.id)).toMatchObject([{ id: award.id, name: 'tada' }])
  await awards.remove(id, made.id, award.id)
  await ofProject.remove(id, made.id)
  expect(await ofProject.all(id)).toEqual([])

  const personal = new Snippets(options)
  const own = await personal.create('Mine', { files, visibility: 'public' } as never)
  expect(await personal.all()).toMatchObject([{ id: own.id }])
  expect((await personal.all({ public: true })).map((each) => each.id)).toContain(own.id)
  await personal.edit(own.id, { description: 'Changed' })
  expect(await personal.show(own.id)).toMatchObject({ description: 'Changed' })
  expect(String(await personal.showContent(own.id))).toContain('puts 1')
  await personal.remove(own.id)
})
