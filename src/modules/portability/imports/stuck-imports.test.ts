import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { ageArchiveImport, archiveImports } from '../../../../test/tables/portability.ts'
import { test, unique } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { endInFailure } from '../../lifecycle/index.ts'
import { exportOf, groupExportOf, upload } from '../testing.ts'
import { endStuckArchiveImports, importGroupArchive } from './group-jobs.ts'

test('a group whose import was killed until no job was left can be written again after hours, and its importer gets a mail', async ({
  world,
}) => {
  const [source, ann] = [await world.group(), await world.user()]
  const archive = await groupExportOf(world, source.id)
  const path = unique('stuck')
  expect((await upload(ann, archive, { path, name: path }, '/groups/import')).status).toBe(202)
  const { id } = (await ann.get(`/groups/${path}`)).json
  const [lost] = await world.takeJobs(`import_group_archive:${id}`)
  const ctx = await contextFor(world, null)
  const title = async () => (await ann.post(`/groups/${id}/epics`, { title: 'Mine' })).status
  await endStuckArchiveImports.run({}, ctx)
  expect(await title()).toBe(403)
  await ageArchiveImport(world, { namespace_id: id }, '15 hours')
  await endStuckArchiveImports.run({}, ctx)
  expect(await title()).toBe(201)
  expect(await mailsTo(world, `${ann.username}@example.com`)).toMatchObject([
    { subject: expect.stringContaining('Import of a group failed'), body: expect.stringContaining('15 hours') },
  ])
  // A run that was only late changes nothing any more.
  await importGroupArchive.run(lost!.payload, ctx)
  expect((await ann.get(`/groups/${id}/epics`)).json).toMatchObject([{ iid: 1, title: 'Mine' }])
})

test('the archive of a project whose import has ended without its job is forgotten', async ({ world }) => {
  const source = await world.project()
  const archive = await exportOf(world, source.id)
  const [ended, waiting] = await Promise.all(
    ['ended', 'waiting'].map(async (word) => (await upload(world.root, archive, { path: unique(word) })).json.id),
  )
  const ctx = await contextFor(world, null)
  await world.takeJobs(`import_archive:${ended}`)
  await endInFailure(ctx, ended, 'It took too long')
  await endStuckArchiveImports.run({}, ctx)
  expect(await archiveImports(world, ended)).toEqual([])
  expect(await archiveImports(world, waiting)).toHaveLength(1)
})

test('a project cannot be created in a group that is being imported, nor moved or forked into it, so that no path is taken', async ({
  world,
}) => {
  const [source, ann] = [await world.group(), await world.user()]
  await world.root.post('/groups', { name: 'below', path: 'below', parent_id: source.id })
  const archive = await groupExportOf(world, source.id)
  const path = unique('filling')
  expect((await upload(world.root, archive, { path, name: path }, '/groups/import')).status).toBe(202)
  const { id } = (await world.root.get(`/groups/${path}`)).json
  await world.root.post(`/groups/${id}/members`, { user_id: ann.id, access_level: 50 })
  const own = (await ann.post('/projects', { path: 'below', initialize_with_readme: true })).json
  const { root } = world
  for (const who of [ann, root]) {
    expect((await who.post('/projects', { path: 'below', namespace_id: id })).status).toBe(400)
    expect((await who.put(`/projects/${own.id}/transfer`, { namespace: id })).status).toBe(400)
    expect((await who.post(`/projects/${own.id}/fork`, { namespace_id: id })).status).toBe(404)
    const places = (await who.get(`/projects/${own.id}/transfer_locations?search=${path}`)).json
    expect(places).toEqual([])
  }
  for (const { payload } of await world.takeJobs(`import_group_archive:${id}`))
    await importGroupArchive.run(payload, await contextFor(world, null))
  expect((await root.get(`/groups/${id}/subgroups`)).json).toMatchObject([{ path: 'below' }])
  expect((await ann.put(`/projects/${own.id}/transfer`, { namespace: id })).status).toBe(400)
  expect((await ann.post('/projects', { path: 'beside', namespace_id: id })).status).toBe(201)
})
