import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Branches, MergeRequests } from '@gitbeaker/rest'
import { expect, test } from 'vitest'
import { git, temporaryFolder, World } from '../world.ts'

test('@gitbeaker/rest merges and rebases pushed branches, and sees merges by git', async () => {
  await using world = await World.start()
  await world.runJobs()
  await using folder = await temporaryFolder()
  const work = folder.path
  const project = await world.project()
  const remote = world.remote(project, world.root)
  const commit = async (name: string) => {
    await writeFile(join(work, name), `${name}\n`)
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', `Add ${name}`)
    return git(work, 'rev-parse', 'HEAD')
  }
  const push = (...refs: string[]) => git(work, 'push', '-q', remote, ...refs)
  const branch = async (name: string) => {
    await git(work, 'checkout', '-q', '-b', name, 'main')
    await commit(name)
    await push(name)
  }
  await git(work, 'init', '-q', '-b', 'main')
  await commit('begin')
  await push('main')
  for (const name of ['one', 'two', 'three']) await branch(name)

  const options = { host: world.origin, token: world.root.token! }
  const mergeRequests = new MergeRequests(options)
  const [one, two, three] = await Promise.all(
    ['one', 'two', 'three'].map((name) =>
      mergeRequests.create(project.id, name, 'main', `Merge ${name}`, { removeSourceBranch: true }),
    ),
  )
  const show = ({ iid }: { iid: number }) => mergeRequests.show(project.id, iid, { includeRebaseInProgress: true })
  const becomes = (which: { iid: number }, record: object) => expect.poll(() => show(which)).toMatchObject(record)

  await becomes(one!, { merge_status: 'can_be_merged' })
  await git(work, 'checkout', '-q', 'one')
  const sha = await commit('more')
  await push('one')
  await becomes(one!, { sha, changes_count: '2' })
  expect(await mergeRequests.accept(project.id, one!.iid, { sha })).toMatchObject({ state: 'merged' })
  const names = async () => (await new Branches(options).all(project.id)).map(({ name }) => name)
  await expect.poll(names).toEqual(['main', 'three', 'two'])

  expect(await mergeRequests.rebase(project.id, two!.iid)).toMatchObject({ rebase_in_progress: true })
  await becomes(two!, { rebase_in_progress: false, merge_error: null })
  const rebased = await show(two!)
  expect(rebased.sha).not.toBe(two!.sha)
  expect(await mergeRequests.accept(project.id, two!.iid, { sha: rebased.sha, squash: true })).toMatchObject({
    state: 'merged',
  })

  await git(work, 'fetch', '-q', remote, 'main')
  await git(work, 'checkout', '-q', 'three')
  await git(work, 'merge', '-q', '--no-edit', 'FETCH_HEAD')
  const head = await git(work, 'rev-parse', 'HEAD')
  await push('three', 'three:main')
  await becomes(three!, { state: 'merged', sha: head, merge_commit_sha: null })
  await git(work, 'fetch', '-q', remote, `refs/merge-requests/${three!.iid}/head`)
  expect(await git(work, 'rev-parse', 'FETCH_HEAD')).toBe(head)
})
