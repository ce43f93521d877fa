import { describe, expect } from 'vitest'
import { lockRow } from '../../../test/tables/instance.ts'
import { waitingForLocks } from '../../../test/tables/locks.ts'
import { eventually } from '../../../test/waiting.ts'
import { type Answer, test, type World } from '../../../test/world.ts'
import { storedProject } from '../repository/commits/testing.ts'

type Place = { readonly path: string; readonly labelId: number }

const places: Readonly<Record<string, (world: World) => Promise<string>>> = {
  issue: async (world) => {
    const { id } = await storedProject(world, {})
    return `/projects/${id}`
  },
  epic: async (world) => `/groups/${(await world.group()).id}`,
}
const nouns: Readonly<Record<string, string>> = { issue: 'issues', epic: 'epics' }

async function placed(world: World, kind: string): Promise<Place> {
  const at = await places[kind]!(world)
  const label = await world.root.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })
  return { path: `${at}/${nouns[kind]}`, labelId: label.json.id }
}

/** Sends a request that must wait for the label, and what others see meanwhile. */
async function meanwhile(
  world: World,
  labelId: number,
  { send, see }: { readonly send: () => Promise<Answer>; readonly see: () => Promise<unknown> },
) {
  const { sent, seen } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'labels', labelId)
    const waiting = send()
    await eventually(async () => expect(await waitingForLocks(world)).not.toEqual([]))
    // The request ends after the transaction.
    return { sent: { waiting }, seen: await see() }
  })
  return { answer: await sent.waiting, seen }
}

describe.each(Object.keys(places))('quick actions in the description of an %s', (kind) => {
  test('take effect with its creation, or neither does', async ({ world }) => {
    const { path, labelId } = await placed(world, kind)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.post(path, { title: 'x', description: 'Text\n/label ~bug' }),
      see: async () => (await world.root.get(path)).json,
    })
    expect(seen).toEqual([])
    expect(answer).toMatchObject({ status: 201, json: { description: 'Text', labels: ['bug'] } })
  })

  test('take effect with its edit, or neither does', async ({ world }) => {
    const { path, labelId } = await placed(world, kind)
    const at = `${path}/${(await world.root.post(path, { title: 'x' })).json.iid}`
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.put(at, { title: 'y', description: 'Text\n/label ~bug' }),
      see: async () => (await world.root.get(at)).json.title,
    })
    expect(seen).toBe('x')
    expect(answer).toMatchObject({ status: 200, json: { title: 'y', description: 'Text', labels: ['bug'] } })
  })

  test('that cannot be applied leave what was created', async ({ world }) => {
    const { path } = await placed(world, kind)
    const made = await world.root.post(path, {
      title: 'x',
      description: 'Text\n/label ~missing\n/award :tada:\n/close',
    })
    expect(made).toMatchObject({ status: 201, json: { description: 'Text', state: 'closed', labels: [] } })
    expect((await world.root.get(`${path}/${made.json.iid}/award_emoji`)).json).toMatchObject([{ name: 'tada' }])
  })
})
