import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { mailsTo } from '../../instance/mails/testing.ts'

const addressOf = (who: Client) => `${who.username}@example.com`

describe.for(['groups', 'projects'] as const)('mails about access requests to %s', (base) => {
  const of = base.slice(0, -1)

  test('mails about an access request go to its managers, and the decision to the requester', async ({ world }) => {
    const [boss, maintainer, dev, ann, bob] = await Promise.all(Array.from({ length: 5 }, () => world.user()))
    const outer = await world.group({ visibility: 'public', members: [[boss!, 'owner']] })
    const members: [Client, Level][] = [
      [maintainer!, 'maintainer'],
      [dev!, 'developer'],
    ]
    const more = { visibility: 'public', request_access_enabled: true, members } as const
    const place =
      base === 'groups' ? await world.group({ parent: outer, ...more }) : await world.project({ group: outer, ...more })
    const asks = async (who: Client) =>
      (await mailsTo(world, addressOf(who))).filter(({ body }) => body.includes('requested access'))

    expect((await ann!.post(`/${base}/${place.id}/access_requests`)).status).toBe(201)
    const [asked, ...others] = await asks(boss!)
    expect(others).toEqual([])
    expect(asked!.subject).toContain(place.full_path)
    expect(asked!.body).toContain(`(@${ann!.username})`)
    expect(asked!.body).toContain(`${world.origin}/api/v4/${base}/${place.id}/access_requests`)
    expect(await asks(maintainer!)).toHaveLength(base === 'groups' ? 0 : 1)
    expect(await asks(dev!)).toEqual([])
    expect(await mailsTo(world, addressOf(ann!))).toEqual([])

    await world.root.put(`/${base}/${place.id}/access_requests/${ann!.id}/approve`)
    const granted = await mailsTo(world, addressOf(ann!))
    expect(granted).toHaveLength(1)
    expect(granted[0]!.body).toContain(`Your request for access to a ${of} was approved:`)
    expect(granted[0]!.body).toContain('role is Developer')

    await bob!.post(`/${base}/${place.id}/access_requests`)
    await boss!.delete(`/${base}/${place.id}/access_requests/${bob!.id}`)
    const denied = await mailsTo(world, addressOf(bob!))
    expect(denied).toHaveLength(1)
    expect(denied[0]!.body).toContain(`Your request for access to a ${of} was denied:`)
  })

  test('429 after ten access requests per hour, and no mail for a withdrawn one', async ({ world }) => {
    const [boss, ann] = [await world.user(), await world.user()]
    const more = { visibility: 'public', request_access_enabled: true } as const
    const place =
      base === 'groups' ? await world.group(more) : await world.project({ ...more, members: [[boss, 'maintainer']] })
    const path = `/${base}/${place.id}/access_requests`
    for (let each = 0; each < 10; each++) {
      expect((await ann.post(path)).status).toBe(201)
      expect((await ann.delete(`${path}/${ann.id}`)).status).toBe(204)
    }
    expect(await mailsTo(world, addressOf(ann))).toEqual([])
    expect((await ann.post(path)).status).toBe(429)
  })
})
