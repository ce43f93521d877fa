import { GroupIssueBoards, IssueLinks, Issues, ProjectIssueBoards, ProjectLabels } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest plans with boards, orders issues and links them', async ({ world }) => {
  const ann = await world.user()
  const first = await openIssue(world, { members: [[ann, 'reporter']] })
  const second = await openIssue(world, { project: first.project })
  const { id } = first.project
  const options = { host: world.origin, token: ann.token! }

  const boards = new ProjectIssueBoards(options)
  expect(await boards.all(id)).toEqual([])
  const board = await boards.create(id, 'Development')
  const labels = new ProjectLabels(options)
  const [doing, done] = [await labels.create(id, 'doing', '#F0AD4E'), await labels.create(id, 'done', '#00FF00')]
  await boards.createList(id, board.id, { labelId: doing.id })
  const last = await boards.createList(id, board.id, { labelId: done.id })
  expect(await boards.editList(id, board.id, last.id, 0)).toMatchObject({ id: last.id, position: 0 })
  expect((await boards.allLists(id, board.id)).map(({ label }) => label?.name)).toEqual(['done', 'doing'])
  expect(await boards.showList(id, board.id, last.id)).toMatchObject({ label: { name: 'done' } })
  expect(await boards.edit(id, board.id, { name: 'Team', labels: 'doing', weight: 2 })).toMatchObject({ name: 'Team' })
  expect(await boards.show(id, board.id)).toMatchObject({ project: { id }, lists: [{ id: last.id }, { position: 1 }] })
  await boards.removeList(id, board.id, last.id)
  await boards.remove(id, board.id)
  expect(await boards.all(id)).toEqual([])

  const issues = new Issues(options)
  expect(await issues.reorder(id, first.iid, { moveBeforeId: second.id })).toMatchObject({ id: first.id })

  const links = new IssueLinks(options)
  const link = await links.create(id, first.iid, id, String(second.iid) as never, { linkType: 'blocks' })
  expect(link).toMatchObject({ source_issue: { id: first.id }, target_issue: { id: second.id } })
  const [linked] = await links.all(id, first.iid)
  expect(linked).toMatchObject({ id: second.id, link_type: 'blocks' })
  await links.remove(id, first.iid, linked!.issue_link_id as never)
  expect(await links.all(id, second.iid)).toEqual([])

  const group = await world.group()
  const groupBoards = new GroupIssueBoards({ host: world.origin, token: world.root.token! })
  const shared = await groupBoards.create(group.id, 'Planning')
  expect(await groupBoards.all(group.id)).toMatchObject([{ id: shared.id, group: { id: group.id } }])
  await groupBoards.remove(group.id, shared.id)
})
