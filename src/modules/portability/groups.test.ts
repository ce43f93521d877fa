import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { hasSideRepository } from '../../../test/tables/side-repositories.ts'
import { type Client, type TestGroup, test, unique, World } from '../../../test/world.ts'
import { mailsTo } from '../instance/mails/testing.ts'
import { removeSideRepositories } from '../pushes/index.ts'
import { insertUnheld } from '../pushes/side-repositories/queries.ts'
import { entriesOf, groupExportOf, runExports, runGroupImports, upload } from './testing.ts'

const importInto = (who: Client, archive: Buffer, fields: Record<string, string>) =>
  upload(who, archive, fields, '/groups/import')

/** A public group with a private subgroup, each with labels, milestones, boards, badges and members. */
async function stage(world: World) {
  const [ann, ben] = [await world.user(), await world.user()]
  const root = await world.group({ visibility: 'public', members: [[ann, 'owner']], description: 'Größe 💡' })
  const below = await world.group({ visibility: 'private', parent: root, members: [[ben, 'developer']] })
  for (const group of [root, below]) {
    const at = `/groups/${group.id}`
    await ann.post(`${at}/labels`, { name: `label of ${group.path}`, color: '#123456', description: 'x' })
    await ann.post(`${at}/milestones`, { title: `milestone of ${group.path}`, due_date: '2031-02-03' })
    await ann.post(`${at}/badges`, { link_url: 'https://example.com', image_url: 'https://example.com/b.png' })
    await ann.post(`${at}/boards`, { name: 'Board' })
  }
  const [label] = (await ann.get(`/groups/${root.id}/labels`)).json
  const [board] = (await ann.get(`/groups/${below.id}/boards`)).json
  // A board of the subgroup has a list of a label of the group above.
  const made = await ann.post(`/groups/${below.id}/boards/${board.id}/lists`, { label_id: label.id })
  expect(made.status).toBe(201)
  return { ann, ben, root, below }
}

const found = async (who: Client, path: string): Promise<TestGroup & { visibility: string; description: string }> =>
  (await who.get(`/groups/${encodeURIComponent(path)}`)).json

describe('archives of groups', () => {
  test('the avatars of a group and its subgroups are exported and imported', async ({ world }) => {
    const { ann, root, below } = await stage(world)
    const pictureOf = (name: string) =>
      Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(unique(name))])
    const pictures = [pictureOf('root'), pictureOf('below')]
    for (const [index, { id }] of [root, below].entries()) {
      const form = new FormData()
      form.set('avatar', new Blob([new Uint8Array(pictures[index]!)]), `${index}.png`)
      expect((await ann.send('PUT', `/groups/${id}`, { body: form })).status).toBe(200)
    }
    const path = unique('imported')
    const archive = await groupExportOf(world, root.id)
    expect((await importInto(world.root, archive, { name: path, path })).status).toBe(202)
    await runGroupImports(world)
    const bytesOf = async (at: string) => {
      const { avatar_url } = (await world.root.get(`/groups/${encodeURIComponent(at)}`)).json
      const answer = await fetch(avatar_url, { headers: { 'private-token': world.root.token! } })
      return Buffer.from(await answer.arrayBuffer())
    }
    expect([await bytesOf(path), await bytesOf(`${path}/${below.path}`)]).toEqual(pictures)
  })

  test('the wikis of a group and its subgroups are exported and imported', async ({ world }) => {
    const { ann, root, below } = await stage(world)
    const pages = { [root.id]: 'Of the group', [below.id]: 'Of the subgroup 💡' }
    for (const [id, content] of Object.entries(pages))
      expect((await ann.post(`/groups/${id}/wikis`, { title: 'Home page', content })).status).toBe(201)
    const archive = await groupExportOf(world, root.id)
    const path = unique('imported')
    expect((await importInto(world.root, archive, { name: path, path })).status).toBe(202)
    await runGroupImports(world)
    for (const [at, content] of [
      [path, pages[root.id]],
      [`${path}/${below.path}`, pages[below.id]],
    ]) {
      const wikis = `/groups/${encodeURIComponent(at!)}/wikis`
      expect((await world.root.get(`${wikis}/Home-page`)).json).toMatchObject({ title: 'Home page', content })
      expect((await world.root.post(wikis, { title: 'Second', content: 'x' })).status).toBe(201)
    }
  })

  test('an import of a group brings its wikis while repositories of deleted snippets and wikis are removed all the time', async () => {
    await using world = await World.start()
    const ctx = await contextFor(world, null)
    const { ann, root, below } = await stage(world)
    for (const { id } of [root, below]) await ann.post(`/groups/${id}/wikis`, { title: 'Home', content: 'Welcome' })
    const archive = await groupExportOf(world, root.id)
    const path = unique('imported')
    expect((await importInto(world.root, archive, { name: path, path })).status).toBe(202)
    let isGoing = true
    const removing = (async () => {
      while (isGoing) await removeSideRepositories.run({}, ctx)
    })()
    try {
      await runGroupImports(world)
    } finally {
      isGoing = false
      await removing
    }
    for (const at of [path, `${path}/${below.path}`]) {
      const page = await world.root.get(`/groups/${encodeURIComponent(at)}/wikis/Home`)
      expect(page).toMatchObject({ status: 200, json: { content: 'Welcome' } })
    }
    // What an import leaves behind is removed once it is over.
    const { id } = await insertUnheld(ctx.db, 'group_wiki')
    await removeSideRepositories.run({}, ctx)
    expect(await hasSideRepository(world, id)).toBe(false)
  })

  test('D2-GROUP-EXPORT-CONTENT an imported group with its subgroups exports to the same bytes', async ({ world }) => {
    const { root } = await stage(world)
    const first = await groupExportOf(world, root.id)
    const entries = await entriesOf(first)
    expect([...entries.keys()]).toEqual([
      'VERSION',
      'tree/group/badges.ndjson',
      'tree/group/board_lists.ndjson',
      'tree/group/boards.ndjson',
      'tree/group/groups.ndjson',
      'tree/group/labels.ndjson',
      'tree/group/members.ndjson',
      'tree/group/milestones.ndjson',
      'tree/group/users.ndjson',
    ])
    const path = unique('imported')
    const made = await importInto(world.root, first, { name: path, path })
    expect(made).toMatchObject({ status: 202, json: { message: '202 Accepted' } })
    expect(await found(world.root, path)).toMatchObject({ visibility: 'private' })
    await runGroupImports(world)
    const group = await found(world.root, path)
    // A new top-level group stays private; what is below may not be more visible.
    const second = await entriesOf(await groupExportOf(world, group.id))
    const without = (content: Buffer) => content.toString().replaceAll(/"visibility":\d+/g, '')
    for (const [name, content] of entries) expect([name, without(second.get(name)!)]).toEqual([name, without(content)])
    // Numbers continue.
    const next = await world.root.post(`/groups/${group.id}/milestones`, { title: 'Next' })
    expect(next.json.iid).toBe(2)
  })

  test('push rules of groups, and rules for approvals with their people, export to the same bytes and have effect', async ({
    world,
  }) => {
    const { ann, ben, root, below } = await stage(world)
    const other = await world.group({ members: [[ann, 'owner']] })
    const rule = { commit_message_regex: '^JIRA', deny_delete_tag: true, max_file_size: 5 }
    const approvals = { name: 'Two', approvals_required: 2, user_ids: [ann.id, ben.id], group_ids: [other.id] }
    for (const sent of [
      ann.post(`/groups/${root.id}/push_rule`, rule),
      ann.post(`/groups/${below.id}/push_rule`, { branch_name_regex: '^x' }),
      ann.post(`/groups/${root.id}/approval_rules`, approvals),
      ann.post(`/groups/${below.id}/approval_rules`, { name: 'None', approvals_required: 1 }),
    ])
      expect((await sent).status).toBe(201)
    const first = await entriesOf(await groupExportOf(world, root.id))
    const path = unique('imported')
    expect((await importInto(world.root, await groupExportOf(world, root.id), { name: path, path })).status).toBe(202)
    await runGroupImports(world)
    const { id } = await found(world.root, path)
    const second = await entriesOf(await groupExportOf(world, id))
    for (const name of ['push_rules', 'approval_rules_users'])
      expect([name, String(second.get(`tree/group/${name}.ndjson`))]).toEqual([
        name,
        String(first.get(`tree/group/${name}.ndjson`)),
      ])
    expect((await world.root.get(`/groups/${id}/push_rule`)).json).toMatchObject(rule)
    const [imported] = (await world.root.get(`/groups/${id}/approval_rules`)).json
    expect(imported).toMatchObject({
      name: 'Two',
      approvals_required: 2,
      groups: [],
      applies_to_all_protected_branches: true,
    })
    expect(imported.users.map((user: { id: number }) => user.id).sort()).toEqual([ann.id, ben.id].sort())
    const project = await world.root.post('/projects', { path: unique('project'), namespace_id: id })
    expect((await world.root.get(`/projects/${project.json.id}/push_rule`)).json).toMatchObject(rule)
  })

  test('D2-GROUP-EXPORT-ACCEPTED D2-GROUP-EXPORT-404 an export is accepted, and its archive is missing until it is finished', async ({
    world,
  }) => {
    const { ann, ben, root } = await stage(world)
    const at = `/groups/${root.id}/export`
    expect(await ann.get(`${at}/download`)).toMatchObject({
      status: 404,
      json: { message: '404 Not found or has expired' },
    })
    expect(await ann.post(at)).toMatchObject({ status: 202, json: { message: '202 Accepted' } })
    expect((await ann.get(`${at}/download`)).status).toBe(404)
    await runExports(world)
    expect((await ann.get(`${at}/download`)).status).toBe(200)
    expect((await ben.post(at)).status).toBe(403)
    expect((await ben.get(`${at}/download`)).status).toBe(403)
  })

  test('D2-GROUP-IMPORT-PARENT parent_id names the group above, which limits the visibility; default: the top level', async ({
    world,
  }) => {
    const { ann, root } = await stage(world)
    const archive = await groupExportOf(world, root.id, ann)
    const zoe = await world.user()
    const parent = await world.group({ visibility: 'internal', members: [[zoe, 'owner']] })
    const [inside, top] = [unique('inside'), unique('top')]
    expect((await importInto(zoe, archive, { name: inside, path: inside, parent_id: String(parent.id) })).status).toBe(
      202,
    )
    expect((await importInto(zoe, archive, { name: top, path: top })).status).toBe(202)
    await runGroupImports(world)
    const group = await found(zoe, `${parent.full_path}/${inside}`)
    expect(group).toMatchObject({ visibility: 'internal', description: 'Größe 💡' })
    expect(await found(zoe, top)).toMatchObject({ visibility: 'private' })
    // Only administrators import members.
    expect((await zoe.get(`/groups/${group.id}/members`)).json.map(({ id }: { id: number }) => id)).toEqual([zoe.id])
    expect((await zoe.get(`/groups/${group.id}/labels`)).json).toHaveLength(1)
    expect((await zoe.get(`/groups/${group.id}/subgroups`)).json).toHaveLength(1)
  })

  test('400, 403 and 404 for groups that cannot be imported', async ({ world }) => {
    const { root, below, ben } = await stage(world)
    const archive = await groupExportOf(world, root.id)
    const path = unique('never')
    expect(await importInto(ben, archive, { name: root.path, path: root.path })).toMatchObject({
      status: 400,
      json: { message: 'Failed to save group {:path=>["has already been taken"]}' },
    })
    expect((await importInto(ben, archive, { name: path, path, parent_id: String(root.id) })).status).toBe(403)
    const stranger = await world.user()
    expect((await importInto(stranger, archive, { name: path, path, parent_id: String(below.id) })).status).toBe(404)
    expect(await importInto(ben, Buffer.from('x'), { name: path, path })).toMatchObject({
      status: 400,
      json: { message: 'The file is invalid' },
    })
  })

  test('members with a lower level than they inherit from the new parent are left out; within the archive they stay', async ({
    world,
  }) => {
    const { ann, ben, root, below } = await stage(world)
    await world.root.post(`/groups/${below.id}/members`, { user_id: ann.id, access_level: 50 })
    await world.root.post(`/groups/${root.id}/members`, { user_id: ben.id, access_level: 40 })
    const archive = await groupExportOf(world, root.id)
    const path = unique('below')
    const levelsIn = async (at: string) => {
      const members = (await world.root.get(`/groups/${encodeURIComponent(at)}/members`)).json
      return new Map(members.map((each: { id: number; access_level: number }) => [each.id, each.access_level]))
    }
    const free = await world.group()
    const owned = await world.group({ members: [[ben, 'owner']] })
    for (const parent of [free, owned]) {
      const fields = { name: path, path, parent_id: String(parent.id) }
      expect((await importInto(world.root, archive, fields)).status).toBe(202)
      await runGroupImports(world)
    }
    expect((await levelsIn(`${free.path}/${path}`)).get(ben.id)).toBe(40)
    expect((await levelsIn(`${free.path}/${path}/${below.path}`)).get(ben.id)).toBe(30)
    for (const at of [`${owned.path}/${path}`, `${owned.path}/${path}/${below.path}`]) {
      const levels = await levelsIn(at)
      expect(levels.has(ben.id), at).toBe(false)
      expect(levels.get(ann.id), at).toBe(50)
      expect((await ben.get(`/groups/${encodeURIComponent(at)}`)).status).toBe(200)
    }
  })

  test('403 and no group while an administrator has disabled imports of archives', async ({ world }) => {
    const { root } = await stage(world)
    const archive = await groupExportOf(world, root.id)
    const zoe = await world.user()
    const path = unique('closed')
    await world.settings({ import_sources: ['git', 'github', 'gitea'] })
    for (const who of [zoe, world.root])
      expect(await importInto(who, archive, { name: path, path })).toMatchObject({
        status: 403,
        json: { message: '403 Forbidden' },
      })
    expect((await world.root.get(`/groups/${path}`)).status).toBe(404)
    await world.settings({ import_sources: ['gitlab_project'] })
    expect((await importInto(zoe, archive, { name: path, path })).status).toBe(202)
    await runGroupImports(world)
  })

  test('a group stays empty if the importer has lost the right to change it meanwhile', async ({ world }) => {
    const { root } = await stage(world)
    const archive = await groupExportOf(world, root.id)
    const zoe = await world.user()
    const path = unique('lost')
    expect((await importInto(zoe, archive, { name: path, path })).status).toBe(202)
    const group = await found(zoe, path)
    await zoe.post(`/groups/${group.id}/members`, { user_id: world.root.id, access_level: 50 })
    const demoted = await world.root.put(`/groups/${group.id}/members/${zoe.id}`, { access_level: 40 })
    expect(demoted.status, demoted.text).toBe(200)
    await runGroupImports(world)
    expect((await zoe.get(`/groups/${group.id}/labels`)).json).toEqual([])
    expect((await mailsTo(world, `${zoe.username}@example.com`)).at(-1)!.body).toContain(
      'no longer allowed to change the group',
    )
  })

  test('a group whose import fails stays empty, and a mail has the reason', async ({ world }) => {
    const { root } = await stage(world)
    const archive = await groupExportOf(world, root.id)
    const zoe = await world.user()
    const path = unique('broken')
    await importInto(zoe, archive.subarray(0, archive.length - 60), { name: path, path })
    await runGroupImports(world)
    const group = await found(zoe, path)
    expect((await zoe.get(`/groups/${group.id}/labels`)).json).toEqual([])
    expect((await zoe.get(`/groups/${group.id}/subgroups`)).json).toEqual([])
    expect((await mailsTo(world, `${zoe.username}@example.com`)).at(-1)!.body).toContain('It is not a gzip archive')
  })
})
