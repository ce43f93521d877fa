import { expect } from 'vitest'
import { lockTable, waitingFor } from '../../../../test/tables/instance.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import { groupExportOf, runGroupImports, upload } from '../testing.ts'

/** Uploads the archive of a group with a subgroup below it and of labels of both, into a group below `parent`. */
async function begun(world: World, who: Client, parent: { readonly id: number }) {
  const source = await world.group({ visibility: 'public' })
  const below = await world.group({ parent: source, visibility: 'public' })
  for (const { id } of [source, below])
    await world.root.post(`/groups/${id}/labels`, { name: `of ${id}`, color: '#ff0000' })
  const archive = await groupExportOf(world, source.id)
  const path = unique('imported')
  const made = await upload(who, archive, { path, name: path, parent_id: String(parent.id) }, '/groups/import')
  expect(made.status, made.text).toBe(202)
  return { path, below, labels: [`of ${source.id}`, `of ${below.id}`] }
}

/** Runs the import, and `meanwhile` while it stores records. */
async function whileStoring<T>(world: World, meanwhile: () => Promise<T>): Promise<T> {
  const storing = () => waitingFor(world, 'lock', '^\\s*insert into labels')
  const { importing, result } = await world.db.transaction(async (tx) => {
    await lockTable(tx, 'labels')
    const importing = runGroupImports(world)
    await expect.poll(storing, { timeout: waitMs }).toHaveLength(1)
    const result = await meanwhile()
    // Otherwise `meanwhile` was after the import, not beside it.
    expect(await storing()).toHaveLength(1)
    return { importing, result }
  })
  await importing
  return result
}

test('members of other groups are added while the records of an archive of a group are stored', async () => {
  await using world = await World.start()
  const [ann, ben] = [await world.user(), await world.user()]
  const [parent, other] = [await world.group({ members: [[ann, 'owner']] }), await world.group()]
  const { path, below, labels } = await begun(world, ann, parent)
  const added = await whileStoring(world, () =>
    world.root.post(`/groups/${other.id}/members`, { user_id: ben.id, access_level: 30 }),
  )
  expect(added).toMatchObject({ status: 201 })
  const at = (full: string) => `/groups/${encodeURIComponent(`${parent.full_path}/${full}`)}`
  expect((await ann.get(`${at(path)}/labels`)).json).toMatchObject([{ name: labels[0] }])
  expect(
    (await ann.get(`${at(`${path}/${below.path}`)}/labels?only_group_labels=true&include_ancestor_groups=false`)).json,
  ).toMatchObject([{ name: labels[1] }])
})

test('members are added while the transfer of a group waits for an import into it', async () => {
  await using world = await World.start()
  const [ann, ben] = [await world.user(), await world.user()]
  const [parent, other] = [await world.group({ members: [[ann, 'owner']] }), await world.group()]
  const { path } = await begun(world, ann, parent)
  const { added, transferred } = await whileStoring(world, async () => {
    const transferred = world.root.post(`/groups/${parent.id}/transfer`, { group_id: other.id })
    await expect
      .poll(() => waitingFor(world, 'lock', 'from namespaces where id = .* for update'), { timeout: waitMs })
      .toHaveLength(1)
    const added = await world.root.post(`/groups/${other.id}/members`, { user_id: ben.id, access_level: 30 })
    // In an object, because the import must end before the transfer can.
    return { added, transferred }
  })
  expect(added.status).toBe(201)
  expect((await transferred).status).toBe(201)
  const full = `${other.full_path}/${parent.path}/${path}`
  expect((await world.root.get(`/groups/${encodeURIComponent(full)}`)).json.full_path).toBe(full)
})

test('a group imported while a group above it is renamed and lowered follows it, with all that the archive has', async () => {
  await using world = await World.start()
  const ann = await world.user()
  const parent = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
  const { path, below, labels } = await begun(world, ann, parent)
  const renamed = unique('renamed')
  const edited = await whileStoring(world, () =>
    world.root.put(`/groups/${parent.id}`, {
      path: renamed,
      name: renamed,
      visibility: 'private',
      share_with_group_lock: true,
    }),
  )
  expect(edited).toMatchObject({ status: 200, json: { full_path: renamed } })
  const full = `${renamed}/${path}`
  const imported = (await ann.get(`/groups/${encodeURIComponent(full)}`)).json
  expect(imported).toMatchObject({ full_path: full, visibility: 'private', share_with_group_lock: true })
  const [inside] = (await ann.get(`/groups/${imported.id}/subgroups`)).json
  expect(inside).toMatchObject({
    full_path: `${full}/${below.path}`,
    full_name: `${renamed} / ${path} / ${inside.name}`,
    visibility: 'private',
    share_with_group_lock: true,
  })
  expect((await ann.get(`/groups/${encodeURIComponent(inside.full_path)}`)).json.id).toBe(inside.id)
  expect((await ann.get(`/groups/${inside.id}/labels`)).json.map(({ name }: { name: string }) => name).sort()).toEqual(
    [...labels].sort(),
  )
})
