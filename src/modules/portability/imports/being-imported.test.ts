import { describe, expect } from 'vitest'
import { lockRow, waitingFor } from '../../../../test/tables/instance.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { test, unique } from '../../../../test/world.ts'
import { craft, entriesOf, exportOf, groupExportOf, recordsOf, runGroupImports, runImport, upload } from '../testing.ts'

describe('a project or group into which an archive is being imported', () => {
  test('an issue, label, milestone, snippet, page or board in the project is refused, and the import completes', async ({
    world,
  }) => {
    const source = await world.project()
    const ann = await world.user()
    await world.root.post(`/projects/${source.id}/issues`, { title: 'First' })
    await world.root.post(`/projects/${source.id}/labels`, { name: 'bug', color: '#112233' })
    await world.root.post(`/projects/${source.id}/milestones`, { title: 'Next' })
    const archive = await exportOf(world, source.id)
    const { id } = (await upload(ann, archive, { path: unique('writing') })).json
    const answers = await Promise.all([
      ann.post(`/projects/${id}/issues`, { title: 'Mine' }),
      ann.post(`/projects/${id}/labels`, { name: 'bug', color: '#112233' }),
      ann.post(`/projects/${id}/milestones`, { title: 'Next' }),
      ann.post(`/projects/${id}/boards`, { name: 'Board' }),
      ann.post(`/projects/${id}/wikis`, { title: 'Page', content: 'x' }),
      ann.post(`/projects/${id}/snippets`, {
        title: 'x',
        visibility: 'private',
        files: [{ file_path: 'a', content: 'x' }],
      }),
      ann.post(`/projects/${id}/badges`, { link_url: 'https://example.com', image_url: 'https://example.com/a.png' }),
    ])
    expect(answers.map(({ status, json }) => [status, json])).toEqual(
      Array.from({ length: 7 }, () => [403, { message: '403 Forbidden' }]),
    )
    await runImport(world, id)
    expect((await ann.get(`/projects/${id}/import`)).json).toMatchObject({
      import_status: 'finished',
      import_error: null,
    })
    const after = recordsOf(await entriesOf(await exportOf(world, id)), 'issues')
    expect(after.map(({ title }) => title)).toEqual(['First'])
    expect((await ann.post(`/projects/${id}/issues`, { title: 'Mine' })).json.iid).toBe(2)
  })

  test.for([
    ['members of the project are added and removed', 'member'],
    ['the visibility of the group is changed', 'group'],
  ] as const)('%s while the records are written, and no change of access waits', async ([, what], { world }) => {
    const source = await world.project()
    await world.root.post(`/projects/${source.id}/issues`, { title: 'First' })
    const archive = await exportOf(world, source.id)
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const { id } = (await upload(ann, archive, { path: unique('waiting'), namespace: group.full_path })).json
    const members = `/projects/${id}/members`
    const { ran, statuses } = await world.db.transaction(async (tx) => {
      // The author: the records refer to the row.
      await lockRow(tx, 'users', ann.id)
      const ran = runImport(world, id)
      await expect.poll(() => waitingFor(world, 'lock'), { timeout: waitMs }).toHaveLength(1)
      const answers =
        what === 'member'
          ? [
              await world.root.post(members, { user_id: bob.id, access_level: 30 }),
              await world.root.delete(`${members}/${bob.id}`),
            ]
          : [await world.root.put(`/groups/${group.id}`, { visibility: 'internal' })]
      return { ran, statuses: answers.map(({ status }) => status) }
    })
    await ran
    expect(statuses).toEqual(what === 'member' ? [201, 204] : [200])
    expect((await world.root.get(`/projects/${id}/import`)).json).toMatchObject({ import_status: 'finished' })
  })

  test('an epic, label, milestone, board, badge or subgroup in the group is refused, and the import completes', async ({
    world,
  }) => {
    const [source, ann] = [await world.group(), await world.user()]
    await world.root.post(`/groups/${source.id}/epics`, { title: 'First' })
    await world.root.post(`/groups/${source.id}/labels`, { name: 'bug', color: '#112233' })
    await world.root.post(`/groups/${source.id}/milestones`, { title: 'Next' })
    await world.root.post('/groups', { name: 'below', path: 'below', parent_id: source.id })
    const archive = await groupExportOf(world, source.id)
    const path = unique('writing')
    expect((await upload(ann, archive, { path, name: path }, '/groups/import')).status).toBe(202)
    const { id } = (await ann.get(`/groups/${path}`)).json
    const at = `/groups/${id}`
    const answers = await Promise.all([
      ann.post(`${at}/epics`, { title: 'Mine' }),
      ann.post(`${at}/labels`, { name: 'bug', color: '#112233' }),
      ann.post(`${at}/milestones`, { title: 'Next' }),
      ann.post(`${at}/boards`, { name: 'Board' }),
      ann.post(`${at}/badges`, { link_url: 'https://example.com', image_url: 'https://example.com/a.png' }),
      ann.post('/groups', { name: 'below', path: 'below', parent_id: id }),
      ann.post(`${at}/export`),
    ])
    expect(answers.map(({ status, json }) => [status, json])).toEqual(
      Array.from({ length: 7 }, () => [403, { message: '403 Forbidden' }]),
    )
    await runGroupImports(world)
    expect((await ann.get(`${at}/epics`)).json).toMatchObject([{ iid: 1, title: 'First' }])
    expect((await ann.get(`${at}/subgroups`)).json).toMatchObject([{ path: 'below' }])
    expect((await ann.post(`${at}/epics`, { title: 'Mine' })).json.iid).toBe(2)
  })

  test('the group can be written again after an import that failed', async ({ world }) => {
    const ann = await world.user()
    const path = unique('failing')
    const archive = craft([
      { name: 'VERSION', content: '0.2.4\n' },
      { name: 'tree/group/groups.ndjson', content: '{}\n{"parent":9,"name":"x","path":"x"}\n' },
    ])
    expect((await upload(ann, archive, { path, name: path }, '/groups/import')).status).toBe(202)
    const { id } = (await ann.get(`/groups/${path}`)).json
    expect((await ann.post(`/groups/${id}/epics`, { title: 'Mine' })).status).toBe(403)
    await runGroupImports(world)
    expect((await ann.post(`/groups/${id}/epics`, { title: 'Mine' })).status).toBe(201)
  })
})
