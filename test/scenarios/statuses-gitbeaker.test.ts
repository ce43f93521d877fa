import { Commits, Jobs, Pipelines } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { git, temporaryFolder, test } from '../world.ts'

test('@gitbeaker/rest sets commit statuses and reads statuses, pipelines and jobs', async ({ world }) => {
  await using folder = await temporaryFolder()
  const { id, ...project } = await world.project()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'First')
  await git(folder.path, 'push', '-q', world.remote({ id, ...project }, world.root), 'main')
  const sha = await git(folder.path, 'rev-parse', 'HEAD')
  const options = { host: world.origin, token: world.root.token! }
  const commits = new Commits(options)

  expect(await commits.editStatus(id, sha, 'running', { ref: 'main', name: 'build' })).toMatchObject({ name: 'build' })
  const done = await commits.editStatus(id, sha, 'success', { ref: 'main', name: 'build', coverage: 99.5 })
  expect(done).toMatchObject({ status: 'success', sha, coverage: 99.5 })
  expect(await commits.allStatuses(id, sha, { ref: 'main', all: true })).toEqual([done])
  expect(await commits.show(id, sha)).toMatchObject({ status: 'success', last_pipeline: { sha, ref: 'main' } })

  const pipelines = new Pipelines(options)
  const [pipeline] = await pipelines.all(id, { ref: 'main', status: 'success', orderBy: 'updated_at' })
  expect(pipeline).toMatchObject({ iid: 1, sha, status: 'success', source: 'external' })
  expect(await pipelines.show(id, pipeline!.id)).toMatchObject({ user: { username: 'root' }, coverage: '99.50' })
  expect(await pipelines.showLatest(id, { ref: 'main' })).toMatchObject({ id: pipeline!.id })

  const jobs = new Jobs(options)
  expect(await jobs.all(id, { pipelineId: pipeline!.id })).toMatchObject([{ name: 'build', commit: { id: sha } }])
  expect(await jobs.all(id, { scope: 'failed' })).toEqual([])
})
