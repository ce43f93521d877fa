import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { caughtUp } from '../../../../test/tables/events.ts'
import { deleteProjectRow } from '../../../../test/tables/projects.ts'
import { Client, test, unique } from '../../../../test/world.ts'
import { removeProject } from '../../projects/projects/jobs.ts'
import { exportOf, importOf, runImport, stagedArchive, upload } from '../testing.ts'

describe('POST /projects/import with overwrite', () => {
  test('D1-IMPORT-OVERWRITE an import replaces a project of the same path when it is complete, with its members and stars', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const [zoe, max] = [await world.user(), await world.user()]
    const path = unique('there')
    const old = (await zoe.post('/projects', { path, visibility: 'public' })).json
    await zoe.post(`/projects/${old.id}/members`, { user_id: max.id, access_level: 30 })
    await max.post(`/projects/${old.id}/star`)
    expect(await upload(zoe, archive, { path })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('has already been taken') },
    })
    const { json } = await upload(zoe, archive, { path, overwrite: 'true' })
    expect((await zoe.get(`/projects/${encodeURIComponent(`${zoe.username}/${path}`)}`)).json.id).toBe(old.id)
    await runImport(world, json.id)
    const now = (await zoe.get(`/projects/${encodeURIComponent(`${zoe.username}/${path}`)}`)).json
    expect(now).toMatchObject({ id: json.id, path, description: 'Described', star_count: 1 })
    expect((await max.get(`/projects/${json.id}`)).json.permissions.project_access.access_level).toBe(30)
    expect((await zoe.get(`/projects/${old.id}`)).status).toBe(404)
  })

  test('D1-IMPORT-NAME an import that replaces a project has the given name, which must be valid and free', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const path = unique('named')
    const other = unique('Other')
    await zoe.post('/projects', { path, name: 'Old name' })
    await zoe.post('/projects', { name: other })
    const replacing = { path, overwrite: 'true' }
    for (const [name, error] of [
      ['', "Name can't be blank"],
      ['-', /^Name can contain only/],
      [other, 'Name has already been taken'],
    ] as const)
      expect(await upload(zoe, archive, { ...replacing, name }), name).toMatchObject({
        status: 400,
        json: { message: typeof error === 'string' ? error : expect.stringMatching(error) },
      })
    for (const name of ['New name', 'New name', undefined]) {
      const { status, json } = await upload(zoe, archive, { ...replacing, ...(name && { name }) })
      expect(status).toBe(201)
      await runImport(world, json.id)
      expect((await zoe.get(`/projects/${encodeURIComponent(`${zoe.username}/${path}`)}`)).json).toMatchObject({
        id: json.id,
        name: 'New name',
        path,
      })
    }
  })

  test('an import replaces a project whose path no name of a project may begin with', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const path = `.${unique('dotted')}`
    const old = await zoe.post('/projects', { name: '💡 Profile', path })
    expect(old.status).toBe(201)
    const { json } = await upload(zoe, archive, { path, overwrite: 'true' })
    await runImport(world, json.id)
    expect((await zoe.get(`/projects/${encodeURIComponent(`${zoe.username}/${path}`)}`)).json).toMatchObject({
      id: json.id,
      name: '💡 Profile',
      description: 'Described',
    })
  })

  test('members of a replaced project keep when they expire, and their notification levels, also if the archive has them', async ({
    world,
  }) => {
    const group = await world.group()
    const [ann, max] = [await world.user(), await world.user()]
    const path = unique('held')
    const { id } = await world.project({
      group,
      path,
      members: [
        [ann, 'developer'],
        [max, 'reporter'],
      ],
    })
    const archive = await exportOf(world, id)
    await world.root.put(`/projects/${id}/members/${ann.id}`, { access_level: 30, expires_at: '2999-01-01' })
    for (const who of [ann, max]) await who.put(`/projects/${id}/notification_settings`, { level: 'watch' })
    const fields = { path, namespace: group.full_path, overwrite: 'true' }
    const now = await importOf(world, archive, await world.user({ admin: true }), fields)
    expect((await world.root.get(`/projects/${now.id}/members/${ann.id}`)).json.expires_at).toBe('2999-01-01')
    for (const who of [ann, max]) {
      expect((await who.get(`/projects/${now.id}/notification_settings`)).json.level).toBe('watch')
      expect((await who.get(`/projects/${now.id}`)).json.permissions.project_access.notification_level).toBe(2)
    }
  })

  test('a token of a replaced project, which no one could revoke any more, has no access to the import', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const group = await world.group()
    const path = unique('tokens')
    const old = await world.project({ group, path, visibility: 'private' })
    const made = await world.root.post(`/projects/${old.id}/access_tokens`, {
      name: 'robot',
      scopes: ['api'],
      access_level: 40,
    })
    expect(made.status).toBe(201)
    const robot = new Client(world.origin, { id: made.json.user_id, username: 'robot', token: made.json.token })
    expect((await robot.get(`/projects/${old.id}`)).status).toBe(200)
    const fields = { path, namespace: group.full_path, overwrite: 'true', 'override_params[visibility]': 'private' }
    const { id } = await importOf(world, archive, world.root, fields)
    expect((await robot.get(`/projects/${id}`)).status).toBe(404)
  })

  test('readers of a project find in the change feed that an import replaces it, and where the import is now', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const [zoe, max] = [await world.user(), await world.user()]
    const path = unique('fed')
    const group = await world.group({
      members: [
        [zoe, 'owner'],
        [max, 'guest'],
      ],
    })
    const old = await world.project({ group, path })
    await caughtUp(world)
    const start = (await max.get('/events/changes')).headers['x-next-cursor']
    const { id } = await importOf(world, archive, zoe, { path, namespace: group.full_path, overwrite: 'true' })
    await caughtUp(world)
    const seen = (await max.get(`/events/changes?after=${start}`)).json
    expect(seen).toContainEqual(expect.objectContaining({ kind: 'project_deleted', target_id: old.id }))
    expect(seen).toContainEqual(expect.objectContaining({ kind: 'project_renamed', target_id: id }))
  })

  test('an import does not replace a project that the importer may not delete, nor one whose import fails', async ({
    world,
  }) => {
    const { archive, project, ann } = await stagedArchive(world)
    const [namespace, path] = project.full_path.split('/') as [string, string]
    expect((await upload(ann, archive, { path, namespace, overwrite: 'true' })).status).not.toBe(201)
    const broken = await importOf(world, archive.subarray(0, archive.length - 100), world.root, {
      path,
      namespace,
      overwrite: 'true',
    })
    expect(broken.import_status).toBe('failed')
    expect((await world.root.get(`/projects/${project.id}`)).json.path_with_namespace).toBe(project.full_path)
  })

  test('an import fails, and replaces nothing, if the importer has lost the right to delete or to fill a project meanwhile', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const group = await world.group({ members: [[zoe, 'owner']] })
    const old = await world.project({ group })
    const importAs = async (level: number, fields: Record<string, string>) => {
      await world.root.put(`/groups/${group.id}/members/${zoe.id}`, { access_level: 50 })
      const made = await upload(zoe, archive, { namespace: group.full_path, ...fields })
      expect(made.status, made.text).toBe(201)
      await world.root.put(`/groups/${group.id}/members/${zoe.id}`, { access_level: level })
      await world.root.delete(`/projects/${made.json.id}/members/${zoe.id}`)
      await runImport(world, made.json.id)
      return (await world.root.get(`/projects/${made.json.id}/import`)).json
    }
    expect(await importAs(40, { path: old.path, overwrite: 'true' })).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringContaining('no longer allowed to replace the project'),
    })
    expect((await world.root.get(`/projects/${old.id}`)).json.path_with_namespace).toBe(old.full_path)
    expect(await importAs(30, { path: unique('empty') })).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringContaining('no longer allowed to change the project'),
    })
    expect(await importAs(40, { path: unique('filled') })).toMatchObject({ import_status: 'finished' })
  })

  test('an import whose project to replace is gone when its turn comes fails, and does not finish at another path', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const path = unique('twice')
    const old = (await zoe.post('/projects', { path })).json
    const [first, second] = [
      (await upload(zoe, archive, { path, overwrite: 'true' })).json,
      (await upload(zoe, archive, { path, overwrite: 'true' })).json,
    ]
    await runImport(world, first.id)
    for (const { payload } of await world.takeJobs(`remove_project:${old.id}`))
      await removeProject.run(payload, await contextFor(world, null))
    await runImport(world, second.id)
    expect((await zoe.get(`/projects/${second.id}/import`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The project that was to be replaced no longer exists',
    })
    expect((await zoe.get(`/projects/${encodeURIComponent(`${zoe.username}/${path}`)}`)).json.id).toBe(first.id)
  })

  test('an import that is to replace a project which is removed meanwhile is refused', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const path = unique('removed')
    const old = (await zoe.post('/projects', { path })).json
    const made = await (await contextFor(world, null)).transaction(async (tx) => {
      await deleteProjectRow(tx, old.id)
      const answer = upload(zoe, archive, { path, overwrite: 'true' })
      await world.waitsForLock()
      return { answer }
    })
    expect(await made.answer).toMatchObject({
      status: 409,
      json: { message: 'The project that was to be replaced no longer exists' },
    })
    expect((await zoe.get(`/users/${zoe.id}/projects`)).json).toEqual([])
  })
})
