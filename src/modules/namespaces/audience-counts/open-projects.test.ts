import { describe, expect } from 'vitest'
import { audienceNumbers } from '../../../../test/tables/issues.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { type Client, test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'

const visibilities = ['private', 'internal', 'public'] as const

describe('totals of all projects and groups', () => {
  test('the numbers by visibility are those of the tables, whatever changes them', async ({ world }) => {
    const same = async () => {
      const { kept, counted } = await audienceNumbers(world)
      expect(kept).toEqual(counted)
    }
    const group = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: group, visibility: 'internal' })
    const projects = await Promise.all(visibilities.map((visibility) => storedProject(world, { visibility })))
    const contained = await storedProject(world, { group: inner, visibility: 'internal' })
    await same()
    for (const { id } of projects) {
      await world.root.post(`/projects/${id}/archive`)
      await same()
      for (const visibility of [20, 0, 10]) await changeProject(world, id, { visibility })
      await same()
      await world.root.post(`/projects/${id}/unarchive`)
    }
    await same()
    await changeProject(world, projects[1]!.id, { deleting: true })
    await same()
    await deleteProject(world, { id: projects[1]!.id })
    await same()
    // Nothing below is more visible than the group.
    await changeProject(world, contained.id, { visibility: 0 })
    for (const { id } of [inner, group])
      expect((await world.root.put(`/groups/${id}`, { visibility: 'private' })).status).toBe(200)
    await same()
    await world.root.put(`/groups/${group.id}`, { visibility: 'internal' })
    await same()
    expect((await world.root.delete(`/groups/${group.id}`)).status).toBe(202)
    await same()
    await world.user()
    await same()
  })

  test('X-Total is the number of rows, for each kind of caller and filter', async ({ world }) => {
    const [member, stranger, external] = [await world.user(), await world.user(), await world.user({ external: true })]
    for (const visibility of visibilities) {
      const group = await world.group({ visibility })
      await world.root.post(`/groups/${group.id}/members`, { user_id: member.id, access_level: 10 })
      for (const each of visibilities) {
        if (visibilities.indexOf(each) > visibilities.indexOf(visibility)) continue
        await storedProject(world, { visibility: each, group })
        const { id } = await storedProject(world, { visibility: each, group })
        await world.root.post(`/projects/${id}/archive`)
      }
      const alone = await storedProject(world, { visibility })
      await world.root.post(`/projects/${alone.id}/members`, { user_id: member.id, access_level: 20 })
    }
    const total = async (who: Client, path: string) => {
      const { status, headers } = await who.get(`${path}&per_page=1`)
      return status === 200 ? Number(headers['x-total']) : status
    }
    const filters = ['archived=true', 'archived=false', ...visibilities.map((each) => `visibility=${each}`)]
    const both = visibilities.map((each) => `archived=true&visibility=${each}`)
    const seen = new Set<number>()
    for (const who of [member, stranger, external, world.root, world.anonymous]) {
      for (const filter of ['', ...filters, ...both, 'membership=true', 'min_access_level=20']) {
        const path = `/projects?${filter}`
        const number = await total(who, path)
        // What has a further condition is counted.
        expect([path, number]).toEqual([path, await total(who, `${path}&id_after=0`)])
        seen.add(number)
      }
      for (const filter of ['all_available=true', 'all_available=false', 'min_access_level=10', '']) {
        const path = `/groups?${filter}`
        expect([path, await total(who, path)]).toEqual([path, await total(who, `${path}&skip_groups[]=999999999`)])
      }
    }
    // The callers and filters differ in what they list.
    expect(seen.size).toBeGreaterThan(10)
  })
})
