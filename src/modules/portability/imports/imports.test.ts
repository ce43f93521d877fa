import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { archiveImports } from '../../../../test/tables/portability.ts'
import { hasSideRepository } from '../../../../test/tables/side-repositories.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import { follow, linksTo } from '../../accounts/users/testing.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { removeSideRepositories } from '../../pushes/side-repositories/jobs.ts'
import { insertUnheld } from '../../pushes/side-repositories/queries.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { exportOf, importOf, runImport, stagedArchive, upload } from '../testing.ts'
import { importArchive } from './jobs.ts'

const bodiesOf = async (who: Client, id: number): Promise<{ body: string; author: { id: number } }[]> =>
  (await who.get(`/projects/${id}/issues/1/notes?sort=asc`)).json.filter(({ system }: { system: boolean }) => !system)

/** Temporary files of forms that this process has open, deleted ones included. */
const openUploads = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).match(/uploads\/upload-.*/) ?? []
    } catch {
      return []
    }
  })

describe('POST /projects/import', () => {
  test('D1-IMPORT-MULTIPART D1-IMPORT-SCHEDULED D1-IMPORT-STATES D1-IMPORT-NAME an uploaded archive becomes a project', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const path = unique('imported')
    const made = await upload(zoe, archive, { path })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: path,
        path,
        path_with_namespace: `${zoe.username}/${path}`,
        import_status: 'scheduled',
        description: null,
      },
    })
    const at = `/projects/${made.json.id}`
    expect((await zoe.get(`${at}/repository/tree`)).status).toBe(404)
    expect((await zoe.get(`${at}/issues`)).json).toEqual([])
    await runImport(world, made.json.id)
    expect((await zoe.get(`${at}/import`)).json).toMatchObject({ import_status: 'finished', import_error: null })
    expect((await zoe.get(at)).json).toMatchObject({
      description: 'Described',
      visibility: 'public',
      default_branch: 'main',
    })
    expect((await zoe.get(`${at}/repository/tree`)).json).toMatchObject([{ name: 'README.md' }])
    expect((await zoe.get(`${at}/issues`)).json).toMatchObject([{ iid: 1, title: 'Mine', labels: ['bug'] }])
    expect(await archiveImports(world, made.json.id)).toEqual([])
    // Counters and numbers continue.
    expect((await zoe.post(`${at}/issues`, { title: 'Next' })).json.iid).toBe(2)
    expect((await zoe.get(at)).json.open_issues_count).toBe(2)
  })

  test('everything belongs to an importer who is no administrator, and notes of others say who wrote them', async ({
    world,
  }) => {
    const { ann, ben, archive } = await stagedArchive(world)
    const zoe = await world.user()
    const { id } = await importOf(world, archive, zoe)
    expect((await zoe.get(`/projects/${id}/issues/1`)).json.author.id).toBe(zoe.id)
    const notes = await bodiesOf(zoe, id)
    expect(notes.map(({ author }) => author.id)).toEqual([zoe.id, zoe.id])
    expect(notes[0]!.body).toMatch(
      new RegExp(
        `^From Ben\n\n \\*By Name of ${ben.username} on \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC \\(imported from`,
      ),
    )
    const members = (await zoe.get(`/projects/${id}/members`)).json
    expect(members.map((member: { id: number }) => member.id)).toEqual([zoe.id])
    expect(members.map((member: { id: number }) => member.id)).not.toContain(ann.id)
  })

  test('a note says who wrote it, also when that is a name of 128 emoji', async ({ world }) => {
    const ben = await world.user()
    expect((await world.root.put(`/users/${ben.id}`, { name: '😀'.repeat(128) })).status).toBe(200)
    const { id: source } = await storedProject(world, { members: [[ben, 'developer']] })
    await ben.post(`/projects/${source}/issues`, { title: 'Named' })
    await ben.post(`/projects/${source}/issues/1/notes`, { body: 'From Ben' })
    const zoe = await world.user()
    const { id } = await importOf(world, await exportOf(world, source), zoe)
    expect((await zoe.get(`/projects/${id}/import`)).json).toMatchObject({
      import_status: 'finished',
      import_error: null,
    })
    expect((await bodiesOf(zoe, id)).map(({ body }) => body)).toEqual([
      expect.stringMatching(/^From Ben\n\n \*By 😀{128} on /u),
    ])
  })

  test('an administrator imports authors and members, these as maintainers at most', async ({ world }) => {
    const { ann, ben, archive } = await stagedArchive(world)
    const { id } = await importOf(world, archive)
    expect((await world.root.get(`/projects/${id}/issues/1`)).json.author.id).toBe(ann.id)
    expect((await bodiesOf(world.root, id)).map(({ author, body }) => [author.id, body])).toEqual([
      [ben.id, 'From Ben'],
      [ben.id, '# Heading'],
    ])
    expect((await world.root.get(`/projects/${id}/members/${ann.id}`)).json.access_level).toBe(40)
    expect((await ann.get(`/projects/${id}`)).json.permissions.project_access.access_level).toBe(40)
  })

  test('members with a lower level than they inherit from a group above are left out, as none can be added so', async ({
    world,
  }) => {
    const [ann, ben, cat, dan] = [await world.user(), await world.user(), await world.user(), await world.user()]
    const { id: source } = await storedProject(world, {
      members: [
        [ann, 'developer'],
        [ben, 'developer'],
        [cat, 'maintainer'],
        [dan, 'reporter'],
      ],
    })
    const above = await world.group({ members: [[ann, 'maintainer']] })
    const group = await world.group({
      parent: above,
      members: [
        [ben, 'developer'],
        [cat, 'reporter'],
      ],
    })
    const archive = await exportOf(world, source)
    const { id } = await importOf(world, archive, world.root, { namespace: group.full_path })
    const members = (await world.root.get(`/projects/${id}/members`)).json
    const levels = new Map(members.map((each: { id: number; access_level: number }) => [each.id, each.access_level]))
    expect(levels).toEqual(
      new Map([
        [world.root.id, 40],
        [ben.id, 30],
        [cat.id, 40],
        [dan.id, 20],
      ]),
    )
    expect((await ann.get(`/projects/${id}`)).json.permissions).toMatchObject({
      project_access: null,
      group_access: { access_level: 40 },
    })
    const mails = await mailsTo(world, (await world.root.get('/user')).json.email)
    expect(mails.filter(({ body }) => body.includes(`project ${id} is complete`)).map(({ body }) => body)).toEqual([
      expect.stringContaining('project_members: 1'),
    ])
  })

  test('an administrator imports no membership for a user who added the address without confirming it', async ({
    world,
  }) => {
    const { ann, archive } = await stagedArchive(world)
    const address = `${ann.username}@example.com`
    const away = { username: unique('away'), email: `${unique('away')}@example.com`, skip_reconfirmation: true }
    expect((await world.root.put(`/users/${ann.id}`, away)).status).toBe(200)
    const zoe = await world.user()
    expect((await zoe.post('/user/emails', { email: address })).status).toBe(201)
    const { id } = await importOf(world, archive)
    expect((await zoe.get(`/projects/${id}`)).json.permissions.project_access).toBeNull()
    await follow(world, (await linksTo(world, address))[0]!)
    const later = await importOf(world, archive)
    expect((await zoe.get(`/projects/${later.id}`)).json.permissions.project_access.access_level).toBe(40)
  })

  test('D1-IMPORT-NAMESPACE namespace is an ID or a path', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const group = await world.group({ visibility: 'private', members: [[zoe, 'maintainer']] })
    const [byId, byPath] = [unique('by-id'), unique('by-path')]
    expect((await upload(zoe, archive, { path: byId, namespace: String(group.id) })).json.path_with_namespace).toBe(
      `${group.full_path}/${byId}`,
    )
    const made = await upload(zoe, archive, { path: byPath, namespace: group.full_path, name: 'A name' })
    expect(made.json).toMatchObject({ path_with_namespace: `${group.full_path}/${byPath}`, name: 'A name' })
    await runImport(world, made.json.id)
    // The group limits the visibility.
    expect((await zoe.get(`/projects/${made.json.id}`)).json.visibility).toBe('private')
  })

  test('D1-IMPORT-OVERRIDE-PARAMS parameters win over the archive, and are checked as those of a new project', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const { id } = await importOf(world, archive, zoe, {
      'override_params[description]': 'Mine',
      'override_params[visibility]': 'internal',
      'override_params[wiki_access_level]': 'disabled',
    })
    expect((await zoe.get(`/projects/${id}`)).json).toMatchObject({
      description: 'Mine',
      visibility: 'internal',
      wiki_access_level: 'disabled',
    })
    const group = await world.group({ visibility: 'internal', members: [[zoe, 'owner']] })
    const within = { namespace: group.full_path, 'override_params[visibility]': 'public' }
    const { id: lowered } = await importOf(world, archive, zoe, within)
    expect((await zoe.get(`/projects/${lowered}`)).json.visibility).toBe('internal')
    const wrong = await upload(zoe, archive, { path: unique('wrong'), 'override_params[visibility]': 'secret' })
    expect(wrong).toMatchObject({
      status: 400,
      json: { error: 'override_params[visibility] does not have a valid value' },
    })
    const long = await upload(zoe, archive, { path: unique('long'), 'override_params[description]': 'x'.repeat(3000) })
    expect(long.status).toBe(400)
  })

  test('the features that an importer chooses open no other feature that the archive limits', async ({ world }) => {
    const { project } = await stagedArchive(world)
    const limited = {
      repository_access_level: 'private',
      merge_requests_access_level: 'private',
      builds_access_level: 'private',
      wiki_access_level: 'disabled',
    }
    expect((await world.root.put(`/projects/${project.id}`, limited)).status).toBe(200)
    const archive = await exportOf(world, project.id)
    const zoe = await world.user()
    for (const [name, value, merge_requests_access_level] of [
      ['merge_requests_enabled', 'false', 'disabled'],
      ['merge_requests_access_level', 'enabled', 'private'],
    ] as const) {
      const { id } = await importOf(world, archive, zoe, { [`override_params[${name}]`]: value })
      const changed = await zoe.put(`/projects/${id}`, { description: 'Can be edited' })
      expect(changed).toMatchObject({ status: 200, json: { ...limited, merge_requests_access_level } })
    }
  })

  test('topics and settings that an importer chooses by the names of requests win over those of the archive', async ({
    world,
  }) => {
    const { project } = await stagedArchive(world)
    await world.root.put(`/projects/${project.id}`, { topics: ['theirs'], public_builds: true })
    const { id } = await importOf(world, await exportOf(world, project.id), await world.user(), {
      'override_params[tag_list]': 'mine',
      'override_params[public_jobs]': 'false',
    })
    expect((await world.root.get(`/projects/${id}`)).json).toMatchObject({ tag_list: ['mine'], public_jobs: false })
  })

  test('attributes of the cleanup policy that an importer does not choose are those of the archive', async ({
    world,
  }) => {
    const { project } = await stagedArchive(world)
    const ofArchive = { enabled: false, cadence: '14d', keep_n: 50, name_regex: '.*', name_regex_keep: 'v.*' }
    await world.root.put(`/projects/${project.id}`, { container_expiration_policy_attributes: ofArchive })
    const { id } = await importOf(world, await exportOf(world, project.id), await world.user(), {
      'override_params[container_expiration_policy_attributes][keep_n]': '5',
      'override_params[container_expiration_policy_attributes][name_regex_delete]': 'old.*',
    })
    expect((await world.root.get(`/projects/${id}`)).json.container_expiration_policy).toMatchObject({
      ...ofArchive,
      keep_n: 5,
      name_regex: 'old.*',
    })
  })

  test('the default branch that an importer chooses wins over that of the archive, if the archive has it', async ({
    world,
  }) => {
    const { project } = await stagedArchive(world)
    const branch = { branch: 'other', ref: 'main' }
    expect((await world.root.post(`/projects/${project.id}/repository/branches`, branch)).status).toBe(201)
    const archive = await exportOf(world, project.id)
    for (const [chosen, expected] of [
      ['other', 'other'],
      ['missing', 'main'],
    ] as const) {
      const { id } = await importOf(world, archive, world.root, { 'override_params[default_branch]': chosen })
      expect((await world.root.get(`/projects/${id}`)).json.default_branch).toBe(expected)
    }
  })

  test('an import brings its wiki while repositories of deleted snippets and wikis are removed all the time', async () => {
    await using world = await World.start()
    const ctx = await contextFor(world, null)
    const { project } = await stagedArchive(world)
    await world.root.post(`/projects/${project.id}/wikis`, { title: 'Home', content: 'Welcome' })
    const archive = await exportOf(world, project.id)
    let isGoing = true
    const removing = (async () => {
      while (isGoing) await removeSideRepositories.run({}, ctx)
    })()
    try {
      const { id } = await importOf(world, archive)
      expect((await world.root.get(`/projects/${id}/wikis/Home`)).json).toMatchObject({ content: 'Welcome' })
    } finally {
      isGoing = false
      await removing
    }
    // What an import leaves behind is removed once it is over.
    const { id } = await insertUnheld(ctx.db, 'project_wiki')
    await removeSideRepositories.run({}, ctx)
    expect(await hasSideRepository(world, id)).toBe(false)
  })

  test('400, 403 and 404 for what cannot be imported', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const stranger = await world.group({ visibility: 'private' })
    const open = await world.group({ visibility: 'public' })
    const path = unique('never')
    const form = new FormData()
    form.set('path', path)
    expect(await zoe.send('POST', '/projects/import', { body: form })).toMatchObject({
      status: 400,
      json: { error: 'file is missing' },
    })
    form.set('file', 'text')
    expect(await zoe.send('POST', '/projects/import', { body: form })).toMatchObject({
      status: 400,
      json: { error: 'file is invalid' },
    })
    expect(await upload(zoe, Buffer.from('no archive'), { path })).toMatchObject({
      status: 400,
      json: { message: 'The file is invalid' },
    })
    for (const namespace of [stranger.full_path, 'no-such-namespace'])
      expect(await upload(zoe, archive, { path, namespace })).toMatchObject({
        status: 404,
        json: { message: '404 Namespace Not Found' },
      })
    expect(await upload(zoe, archive, { path, namespace: open.full_path })).toMatchObject({
      status: 400,
      json: { message: 'Namespace is not valid' },
    })
    expect((await upload(world.anonymous, archive, { path })).status).toBe(401)
    await world.settings({ import_sources: ['git'] })
    expect((await upload(zoe, archive, { path })).status).toBe(403)
  })

  test.skipIf(process.platform !== 'linux')(
    'no file of an uploaded archive stays open, accepted or refused (counts open files: needs Linux)',
    async ({ world }) => {
      const { archive } = await stagedArchive(world)
      const zoe = await world.user()
      // Longer than what is read of it.
      const long = Buffer.concat([archive, Buffer.alloc(1024 * 1024)])
      for (const content of [archive, long, Buffer.alloc(1024 * 1024)])
        await upload(zoe, content, { path: unique('x') })
      await expect.poll(openUploads).toEqual([])
    },
  )

  test('an archive larger than the setting is refused while it is uploaded', async ({ world }) => {
    const zoe = await world.user()
    await world.settings({ max_import_size: 1 })
    expect((await upload(zoe, Buffer.alloc(1_100_000), { path: unique('large') })).status).toBe(413)
  })

  test('D1-IMPORT-ERROR a failed import leaves an empty project and the reason', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const { id, import_status, import_error } = await importOf(world, archive.subarray(0, archive.length - 100), zoe)
    expect({ import_status, import_error }).toEqual({
      import_status: 'failed',
      import_error: 'It is not a gzip archive, or damaged',
    })
    expect((await zoe.get(`/projects/${id}/issues`)).json).toEqual([])
    expect((await zoe.get(`/projects/${id}/labels`)).json).toEqual([])
    expect((await zoe.get(`/projects/${id}/repository/tree`)).status).toBe(404)
    expect(await archiveImports(world, id)).toEqual([])
  })

  test('an import can be repeated: a second run of its job changes nothing', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const { id } = await importOf(world, archive)
    const ctx = await contextFor(world, null)
    await importArchive.run({ projectId: id, storage: 'default' }, ctx)
    expect((await world.root.get(`/projects/${id}/issues`)).json).toHaveLength(1)
  })

  test('an imported project has no events, todos or mails of its content', async ({ world }) => {
    const { ann, archive } = await stagedArchive(world)
    const before = (await ann.get('/todos')).json.length
    const { id } = await importOf(world, archive)
    expect((await ann.get('/todos')).json).toHaveLength(before)
    const kinds = (await world.root.get(`/projects/${id}/events`)).json.map((event: any) => event.target_type)
    expect(kinds).not.toContain('Issue')
    expect(kinds).not.toContain('Note')
  })
})

describe('POST /projects/remote-import', () => {
  test('an archive at a URL becomes a project', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const server = createServer((_request, response) => void response.end(archive))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive?signature=secret`
    try {
      expect(await zoe.post('/projects/remote-import', { url, path: unique('remote') })).toMatchObject({ status: 400 })
      await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
      const made = await zoe.post('/projects/remote-import', { url, path: unique('remote') })
      expect(made).toMatchObject({ status: 201, json: { import_status: 'scheduled' } })
      await runImport(world, made.json.id)
      expect((await zoe.get(`/projects/${made.json.id}/import`)).json).toMatchObject({ import_status: 'finished' })
      expect((await zoe.get(`/projects/${made.json.id}/issues`)).json).toHaveLength(1)
      server.close()
      server.closeAllConnections()
      const failed = await zoe.post('/projects/remote-import', { url, path: unique('remote') })
      await runImport(world, failed.json.id)
      const { json } = await zoe.get(`/projects/${failed.json.id}/import`)
      expect(json).toMatchObject({
        import_status: 'failed',
        import_error: 'The archive could not be downloaded. Connection refused',
      })
    } finally {
      server.close()
    }
  })
})
