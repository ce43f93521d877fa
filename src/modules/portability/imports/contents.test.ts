import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { forkOf, openMergeRequest } from '../../review/merge-requests/testing.ts'
import { craft, entriesOf, exportOf, importOf } from '../testing.ts'

/** An archive with changed records of a relation. */
async function changed(archive: Buffer, name: string, change: (record: any) => object): Promise<Buffer> {
  const entries = await entriesOf(archive)
  const entry = `tree/project/${name}.ndjson`
  const lines = entries.get(entry)!.toString().trimEnd().split('\n')
  entries.set(entry, Buffer.from(lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`).join('')))
  return craft([...entries].map(([each, content]) => ({ name: each, content })))
}

/** The answers of everything that shows a merge request. */
async function statuses(world: World, id: number): Promise<number[]> {
  const at = `/projects/${id}/merge_requests`
  const [version] = (await world.root.get(`${at}/1/versions`)).json
  const paths = [
    '',
    '/1',
    '/1/changes',
    '/1/commits',
    '/1/diffs',
    '/1/versions',
    '/1/notes',
    '/1/discussions',
    '/1/approvals',
  ]
  const answers = [...paths.map((path) => at + path), ...(version ? [`${at}/1/versions/${version.id}`] : [])]
  return Promise.all(answers.map(async (path) => (await world.root.get(path)).status))
}

describe('contents of archives', () => {
  test('an open merge request from a fork comes from a branch of the new project, at the same commit', async ({
    world,
  }) => {
    const { project } = await openMergeRequest(world, { branch: 'other' })
    const ben = await world.user()
    const source = await forkOf(world, project, ben)
    const merge = await openMergeRequest(world, {
      project,
      source,
      author: ben,
      branch: 'from-fork',
      files: { c: 'c\n' },
    })
    const { id, import_status } = await importOf(world, await exportOf(world, project.id))
    expect(import_status).toBe('finished')
    const record = (await world.root.get(`/projects/${id}/merge_requests/${merge.iid}`)).json
    expect(record).toMatchObject({
      state: 'opened',
      source_project_id: id,
      target_project_id: id,
      source_branch: 'from-fork',
    })
    const branch = await world.root.get(`/projects/${id}/repository/branches/from-fork`)
    expect(branch.json.commit.id).toBe(merge.head)
    expect(record.sha).toBe(merge.head)
  })

  test('a merge request whose versions name commits that are not there is shown without an error', async ({
    world,
  }) => {
    const { project } = await openMergeRequest(world)
    const missing = '1'.repeat(40)
    const archive = await changed(await exportOf(world, project.id), 'merge_request_diffs', (record) => ({
      ...record,
      head_oid: missing,
      base_oid: missing,
      start_oid: missing,
    }))
    const { id, import_status } = await importOf(
      world,
      await changed(archive, 'merge_request_commits', (record) => ({ ...record, oid: missing })),
    )
    expect(import_status).toBe('finished')
    for (const status of await statuses(world, id)) expect(status).toBeLessThan(500)
  })

  test('a merge request without versions is imported as one without changes', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    const entries = [...(await entriesOf(await exportOf(world, project.id)))]
    const without = entries.filter(([name]) => !/merge_request_(diffs|commits)/.test(name))
    expect(without).toHaveLength(entries.length - 2)
    const { id, import_status } = await importOf(world, craft(without.map(([name, content]) => ({ name, content }))))
    expect(import_status).toBe('finished')
    for (const status of await statuses(world, id)) expect(status).toBeLessThan(500)
    expect((await world.root.get(`/projects/${id}/merge_requests/1`)).json).toMatchObject({ changes_count: null })
  })

  test('an archive cannot name a blob that it does not contain', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    const entries = await entriesOf(await exportOf(world, project.id))
    const digest = 'a'.repeat(64)
    entries.set(
      'tree/project/uploads.ndjson',
      Buffer.from(
        `${JSON.stringify({ secret: 'b'.repeat(32), filename: 'x', created_at: '2020-01-01T00:00:00.000Z', digest, size: 5 })}\n`,
      ),
    )
    entries.set(
      'tree/project/lfs_objects.ndjson',
      Buffer.from(`${JSON.stringify({ oid: digest, size: 5, created_at: '2020-01-01T00:00:00.000Z' })}\n`),
    )
    const { id, import_status } = await importOf(
      world,
      craft([...entries].map(([name, content]) => ({ name, content }))),
    )
    expect(import_status).toBe('finished')
    expect((await world.root.get(`/projects/${id}/uploads`)).json).toEqual([])
    expect((await world.root.get(`/projects/${id}?statistics=true`)).json.statistics.lfs_objects_size).toBe(0)
  })

  test('an archive gives approvals to no one but users whom an administrator imports', async ({ world }) => {
    const ann = await world.user()
    const { project, at } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
    await ann.post(`${at}/approve`)
    const archive = await exportOf(world, project.id)
    const zoe = await world.user()
    const mine = await importOf(world, archive, zoe)
    expect((await zoe.get(`/projects/${mine.id}/merge_requests/1/approvals`)).json.approved_by).toEqual([])
    const theirs = await importOf(world, archive)
    expect((await world.root.get(`/projects/${theirs.id}/merge_requests/1/approvals`)).json.approved_by).toMatchObject([
      { user: { id: ann.id } },
    ])
  })
})
