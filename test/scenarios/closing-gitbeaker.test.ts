import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IssueNotes, Issues, MergeRequests } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { git, temporaryFolder, World } from '../world.ts'

test('@gitbeaker/rest opens an issue, and merges a pushed branch that closes it', async () => {
  await using world = await World.start()
  await world.runJobs()
  await using folder = await temporaryFolder()
  const work = folder.path
  const project = await world.project()
  const remote = world.remote(project, world.root)
  const commit = async (name: string, message: string) => {
    await writeFile(join(work, name), `${name}\n`)
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', message)
    return git(work, 'rev-parse', 'HEAD')
  }
  const push = (...refs: string[]) => git(work, 'push', '-q', remote, ...refs)
  await git(work, 'init', '-q', '-b', 'main')
  await commit('begin', 'Begin')
  await push('main')

  const options = { host: world.origin, token: world.root.token! }
  const [issues, notes, mergeRequests] = [new Issues(options), new IssueNotes(options), new MergeRequests(options)]
  const [first, second, third] = [
    await issues.create(project.id, 'It burns'),
    await issues.create(project.id, 'It smokes'),
    await issues.create(project.id, 'It stinks'),
  ]
  const show = ({ iid }: { iid: number }) => issues.show(iid, { projectId: project.id })
  const becomes = (issue: { iid: number }, record: object) => expect.poll(() => show(issue)).toMatchObject(record)

  await git(work, 'checkout', '-q', '-b', 'water')
  await commit('water', 'Bring water\n\nFixes #2')
  await push('water')
  const made = await mergeRequests.create(project.id, 'water', 'main', 'Water', { description: 'Closes #1' })
  await becomes(first, { state: 'opened', merge_requests_count: 1 })
  await becomes(second, { state: 'opened', merge_requests_count: 1 })
  const titles = (list: readonly { title: unknown }[]) => list.map(({ title }) => title)
  expect(titles(await mergeRequests.allIssuesClosed(project.id, made.iid))).toEqual(['It burns', 'It smokes'])
  expect(titles(await issues.allClosedByMergeRequestst(project.id, first.iid))).toEqual(['Water'])
  expect(titles(await issues.allRelatedMergeRequests(project.id, second.iid))).toEqual(['Water'])

  await expect.poll(() => mergeRequests.show(project.id, made.iid)).toMatchObject({ merge_status: 'can_be_merged' })
  const merged = await mergeRequests.accept(project.id, made.iid)
  expect(merged).toMatchObject({ state: 'merged' })
  for (const issue of [first, second]) {
    await becomes(issue, { state: 'closed', closed_by: { id: world.root.id } })
    const bodies = (await notes.all(project.id, issue.iid)).map(({ body }) => body)
    expect(bodies).toContain('closed via merge request !1')
  }

  await git(work, 'pull', '-q', remote, 'main')
  expect(await git(work, 'log', '-1', '--format=%B', 'FETCH_HEAD')).toContain('Closes #1 and #2')
  const sha = await commit('soap', 'Bring soap, which closes #3')
  await push('HEAD:main')
  await becomes(third, { state: 'closed' })
  expect((await notes.all(project.id, third.iid)).map(({ body }) => body)).toContain(`closed via commit ${sha}`)
})
