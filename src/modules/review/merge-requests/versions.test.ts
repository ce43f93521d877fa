import { describe, expect } from 'vitest'
import { locate } from '../../../../test/contexts.ts'
import { git, test, type World } from '../../../../test/world.ts'
import { openRepository } from '../../projects/repositories/open.ts'
import { openMergeRequest, refsDropped } from './testing.ts'
import { findVersion, recordVersion } from './versions.ts'

/** Runs the job that follows a push. */
async function syncWithBranches(
  world: World,
  { project, id, iid, branch }: Awaited<ReturnType<typeof openMergeRequest>>,
) {
  const ctx = await world.app.open(null)
  const at = { ...(await locate(world, project.id)), default_branch: 'main' }
  const version = await findVersion(ctx, { source: at, target: at, sourceBranch: branch, targetBranch: 'main' })
  return world.db.transaction((tx) => recordVersion(tx, openRepository(ctx, at), { id, iid }, version))
}

const oids = ({ json }: { json: any }) => json.map(({ id }: any) => id)

describe('versions of a merge request', () => {
  test('D3-MR-VERSION-DETAIL: a version has its commits and diffs', async ({ world }) => {
    const made = await openMergeRequest(world)
    const { at, project, base, head, id } = made
    const next = project.repository.commit({ c: 'c\n' }, { branch: 'topic', message: 'Second' })
    expect(await syncWithBranches(world, made)).toBe(true)
    expect(await syncWithBranches(world, made)).toBe(false)
    const { json } = await world.root.get(`${at}/versions`)
    expect(json).toEqual([
      {
        id: expect.any(Number),
        head_commit_sha: next,
        base_commit_sha: base,
        start_commit_sha: base,
        created_at: expect.any(String),
        merge_request_id: id,
        state: 'collected',
        real_size: '2',
      },
      expect.objectContaining({ head_commit_sha: head, real_size: '1' }),
    ])
    const newest = await world.root.get(`${at}/versions/${json[0].id}`)
    expect(newest.json).toMatchObject({
      ...json[0],
      commits: [
        { id: next, title: 'Second', short_id: next.slice(0, 8), author_name: 'Ann' },
        { id: head, message: 'Change topic\n' },
      ],
      diffs: [
        { new_path: 'b', diff: '@@ -0,0 +1 @@\n+b\n', new_file: true },
        { new_path: 'c', diff: '@@ -0,0 +1 @@\n+c\n' },
      ],
    })
    expect((await world.root.get(`${at}/versions/${json[1].id}`)).json.commits).toHaveLength(1)
    expect(oids(await world.root.get(`${at}/commits`))).toEqual([next, head])
    expect(oids(await world.root.get(`${at}/commits?per_page=1&page=2`))).toEqual([head])
    expect(await world.root.get(`${at}/versions/999999999`)).toMatchObject({
      status: 404,
      json: { message: '404 Not found' },
    })
  })

  test('no ref of a deleted merge request remains, those of forced pushes included', async ({ world }) => {
    const made = await openMergeRequest(world)
    const { at, project, base, head } = made
    const { repository } = project
    const kept = await openMergeRequest(world, { project, branch: 'kept' })
    for (const merge of [made, kept]) {
      repository.git('update-ref', `refs/heads/${merge.branch}`, head)
      await syncWithBranches(world, merge)
      repository.git('update-ref', '-d', `refs/heads/${merge.branch}`)
      repository.commit({ d: 'd\n' }, { branch: merge.branch, parents: [base] })
      await syncWithBranches(world, merge)
    }
    const keptFor = (oid: string) =>
      repository.git('for-each-ref', '--points-at', oid, 'refs/keep-around').split('\n').length
    expect(keptFor(head)).toBe(2)
    expect(await world.root.delete(at)).toMatchObject({ status: 204 })
    await refsDropped(world, made)
    expect(keptFor(head)).toBe(1)
    expect(await world.root.delete(kept.at)).toMatchObject({ status: 204 })
    await refsDropped(world, kept)
    expect(repository.git('for-each-ref', 'refs/merge-requests', 'refs/keep-around')).toBe('')
  })

  test('versions remain readable after a force push and housekeeping', async ({ world }) => {
    const made = await openMergeRequest(world)
    const { at, project, base, head } = made
    project.repository.git('update-ref', '-d', 'refs/heads/topic')
    const other = project.repository.commit({ d: 'd\n' }, { branch: 'topic', parents: [base] })
    await syncWithBranches(world, made)
    project.repository.git('reflog', 'expire', '--expire=now', '--all')
    project.repository.git('-c', 'gc.pruneExpire=now', 'gc', '-q', '--prune=now')
    expect(project.repository.git('cat-file', '-t', head)).toBe('commit')
    const [, old] = (await world.root.get(`${at}/versions`)).json
    expect((await world.root.get(`${at}/versions/${old.id}`)).json).toMatchObject({
      commits: [{ id: head }],
      diffs: [{ new_path: 'b' }],
    })
    expect(project.repository.git('rev-parse', 'refs/merge-requests/1/head')).toBe(other)
    const seen = await git(project.repository.gitDir, 'ls-remote', `${world.origin}/${project.full_path}.git`)
    expect(seen).toContain('refs/merge-requests/1/head')
    expect(seen).not.toContain('keep-around')
  })

  test('the diffs of a merge request are listed in pages, those that its changes omit included', async ({ world }) => {
    const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${1000 + index}`, `${index}\n`]))
    const { at } = await openMergeRequest(world, { files })
    const first = await world.root.get(`${at}/diffs?per_page=2`)
    expect(first.json).toEqual((await world.root.get(`${at}/changes`)).json.changes.slice(0, 2))
    expect(first.json).toMatchObject([{ new_path: 'f1000', diff: '@@ -0,0 +1 @@\n+0\n' }, { new_path: 'f1001' }])
    expect(first.headers).toMatchObject({ 'x-total': '1001', 'x-next-page': '2' })
    expect((await world.root.get(`${at}/diffs?page=11&per_page=100`)).json).toMatchObject([{ new_path: 'f2000' }])
  })

  test('D3-MR-CHANGES-COUNT: files are counted up to the limit of the diff', async ({ world }) => {
    const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, `${index}\n`]))
    const { at, record } = await openMergeRequest(world, { files })
    expect(record.changes_count).toBe('1000+')
    const { json } = await world.root.get(`${at}/changes`)
    expect(json.changes).toHaveLength(1000)
    expect(json).toMatchObject({ overflow: true, changes_count: '1000+' })
    const [version] = (await world.root.get(`${at}/versions`)).json
    expect(version).toMatchObject({ state: 'overflow', real_size: '1000+' })
    const detail = (await world.root.get(`${at}/versions/${version.id}`)).json
    expect(detail.diffs).toHaveLength(1001)
    expect(detail.overflow).toBe(false)
  })

  test('a version with more than 10,000 files shows all of them', async ({ world }) => {
    const files = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, '']))
    const { at } = await openMergeRequest(world, { files })
    const [{ id }] = (await world.root.get(`${at}/versions`)).json
    const { json } = await world.root.get(`${at}/versions/${id}`)
    expect(json.diffs).toHaveLength(10_001)
    expect(json.overflow).toBe(false)
  })

  test('a version with more than 20 MiB of changes shows the first files and overflow', async ({ world }) => {
    const text = `${'x'.repeat(98)}\n`.repeat(1_000)
    const files = Object.fromEntries(Array.from({ length: 220 }, (_, index) => [`f${index}`, text]))
    const { at } = await openMergeRequest(world, { files })
    const [{ id }] = (await world.root.get(`${at}/versions`)).json
    const { json } = await world.root.get(`${at}/versions/${id}`)
    expect(json.diffs.length).toBeGreaterThan(200)
    expect(json.diffs.length).toBeLessThan(220)
    expect(json.overflow).toBe(true)
  })

  test('changes include the record of the merge request', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    await world.root.get(at)
    const { json } = await world.root.get(`${at}/changes`)
    const { changes, overflow, ...record } = json
    expect(record).toEqual((await world.root.get(at)).json)
    expect(overflow).toBe(false)
    expect(changes).toEqual([
      {
        old_path: 'b',
        new_path: 'b',
        a_mode: '0',
        b_mode: '100644',
        diff: '@@ -0,0 +1 @@\n+b\n',
        new_file: true,
        renamed_file: false,
        deleted_file: false,
      },
    ])
  })

  test('without a merge base, all commits of the branch are new', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    project.repository.commit({ z: 'z\n' }, { branch: 'orphan', parents: [] })
    const made = await world.root.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'orphan',
      target_branch: 'main',
      title: 'x',
    })
    expect(made.json).toMatchObject({ changes_count: '1', diff_refs: { base_sha: null } })
    const at = `/projects/${project.id}/merge_requests/${made.json.iid}`
    expect((await world.root.get(`${at}/changes`)).json.changes).toEqual([expect.objectContaining({ new_path: 'z' })])
    expect((await world.root.get(`${at}/versions`)).json).toEqual([
      expect.objectContaining({ base_commit_sha: null, state: 'collected' }),
    ])
  })

  test('a merge request without commits has no versions', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    const { json } = await world.root.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'nowhere',
      target_branch: 'main',
      title: 'x',
    })
    const at = `/projects/${project.id}/merge_requests/${json.iid}`
    expect((await world.root.get(`${at}/versions`)).json).toEqual([])
    expect((await world.root.get(`${at}/commits`)).json).toEqual([])
    expect((await world.root.get(`${at}/changes`)).json).toMatchObject({ changes: [], overflow: false })
  })
})

test('include_diverged_commits_count counts commits that the source lacks', async ({ world }) => {
  const { at, project } = await openMergeRequest(world)
  project.repository.commit({ e: '1' })
  project.repository.commit({ e: '2' })
  expect((await world.root.get(at)).json).not.toHaveProperty('diverged_commits_count')
  const { json } = await world.root.get(`${at}?include_diverged_commits_count=true&include_rebase_in_progress=true`)
  expect(json).toMatchObject({ diverged_commits_count: 2, rebase_in_progress: false })
})
