import { describe, expect } from 'vitest'
import { lockRow } from '../../../../test/tables/instance.ts'
import { waitingForLocks } from '../../../../test/tables/locks.ts'
import { eventually } from '../../../../test/waiting.ts'
import { type Answer, test, unique, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'

/** What has texts with quick actions, and a label of its holder. */
type Place = {
  /** Of the list. */
  readonly path: string
  readonly labelId: number
  /** The parameters of another one. */
  readonly given: Readonly<Record<string, string>>
}

const kinds: Readonly<Record<string, (world: World) => Promise<Omit<Place, 'labelId'> & { readonly holder: string }>>> =
  {
    async issue(world) {
      const holder = `/projects/${(await storedProject(world, {})).id}`
      return { holder, path: `${holder}/issues`, given: { title: 'x' } }
    },
    async epic(world) {
      const holder = `/groups/${(await world.group()).id}`
      return { holder, path: `${holder}/epics`, given: { title: 'x' } }
    },
    async 'merge request'(world) {
      const project = await storedProject(world, {})
      const base = project.repository.commit({ a: 'a' })
      const source_branch = unique('topic')
      project.repository.commit({ b: 'b' }, { branch: source_branch, parents: [base] })
      const holder = `/projects/${project.id}`
      return { holder, path: `${holder}/merge_requests`, given: { title: 'x', source_branch, target_branch: 'main' } }
    },
  }

async function placed(world: World, kind: string): Promise<Place> {
  const { holder, path, given } = await kinds[kind]!(world)
  const label = await world.root.post(`${holder}/labels`, { name: 'bug', color: '#ff0000' })
  return { path, given, labelId: label.json.id }
}

/** One of the kind, and where discussions about it are. */
async function made(world: World, kind: string) {
  const place = await placed(world, kind)
  const { iid, id } = (await world.root.post(place.path, place.given)).json
  const at = `${place.path}/${iid}`
  // Whether it can be merged is stored by the first reader, who waits for its lock.
  await world.root.get(at)
  return { ...place, at, discussions: `${place.path}/${kind === 'epic' ? id : iid}/discussions` }
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

describe.each(Object.keys(kinds))('quick actions in the description of %s', (kind) => {
  test('take effect with its creation, or neither does', async ({ world }) => {
    const { path, given, labelId } = await placed(world, kind)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.post(path, { ...given, description: 'Text\n/label ~bug' }),
      see: async () => (await world.root.get(path)).json,
    })
    expect(seen).toEqual([])
    expect(answer).toMatchObject({ status: 201, json: { description: 'Text', labels: ['bug'] } })
  })

  test('take effect with its edit, or neither does', async ({ world }) => {
    const { at, path, labelId } = await made(world, kind)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.put(at, { title: 'y', description: 'Text\n/label ~bug' }),
      see: async () => (await world.root.get(path)).json[0].title,
    })
    expect(seen).toBe('x')
    expect(answer).toMatchObject({ status: 200, json: { title: 'y', description: 'Text', labels: ['bug'] } })
  })

  test('that cannot be applied leave what was created', async ({ world }) => {
    const { path, given } = await placed(world, kind)
    const answer = await world.root.post(path, {
      ...given,
      description: 'Text\n/label ~missing\n/award :tada:\n/close',
    })
    expect(answer).toMatchObject({ status: 201, json: { description: 'Text', state: 'closed', labels: [] } })
    expect((await world.root.get(`${path}/${answer.json.iid}/award_emoji`)).json).toMatchObject([{ name: 'tada' }])
  })
})

describe.each(Object.keys(kinds))('quick actions in a comment on %s', (kind) => {
  const body = 'Text\n/label ~bug'

  test('take effect with a discussion, or neither does', async ({ world }) => {
    const { at, discussions, labelId } = await made(world, kind)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.post(discussions, { body }),
      see: async () => (await world.root.get(discussions)).json,
    })
    expect(seen).toEqual([])
    expect(answer).toMatchObject({
      status: 201,
      json: { notes: [{ body: 'Text' }], commands_changes: { add_labels: ['bug'] } },
    })
    expect((await world.root.get(at)).json.labels).toEqual(['bug'])
  })

  test('take effect with a reply, or neither does', async ({ world }) => {
    const { at, discussions, labelId } = await made(world, kind)
    const { id } = (await world.root.post(discussions, { body: 'First' })).json
    const bodies = async () => (await world.root.get(`${discussions}/${id}`)).json.notes.map((note: any) => note.body)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.post(`${discussions}/${id}/notes`, { body }),
      see: bodies,
    })
    expect(seen).toEqual(['First'])
    expect(answer).toMatchObject({ status: 201, json: { body: 'Text', commands_changes: { add_labels: ['bug'] } } })
    expect(await bodies()).toEqual(['First', 'Text'])
    expect((await world.root.get(at)).json.labels).toEqual(['bug'])
  })

  test('take effect together without a text', async ({ world }) => {
    const { path, discussions, labelId } = await made(world, kind)
    const { answer, seen } = await meanwhile(world, labelId, {
      send: () => world.root.post(discussions, { body: '/award :tada:\n/label ~bug' }),
      see: async () => (await world.root.get(path)).json[0].labels,
    })
    expect(seen).toEqual([])
    expect(answer).toMatchObject({ status: 202, json: { commands_changes: { add_labels: ['bug'] } } })
  })
})

test.for(['note', 'description'] as const)(
  'quick actions that move branches or protect commits follow after the others of a %s, and are reported in their order',
  async (where, { world }) => {
    const { at } = await made(world, 'merge request')
    await world.root.put(at, { state_event: 'close' })
    const text = 'Text\n/reopen\n/label ~bug\n/merge\n/award :tada:'
    if (where === 'note')
      expect(await world.root.post(`${at}/notes`, { body: text })).toMatchObject({
        status: 201,
        json: {
          body: 'Text',
          commands_changes: { state_event: 'reopen', add_labels: ['bug'] },
          summary: [
            'Reopened this merge request.',
            'Added ~"bug" label.',
            'Merged this merge request.',
            'Toggled :tada: emoji award.',
          ],
        },
      })
    else expect(await world.root.put(at, { description: text })).toMatchObject({ status: 200 })
    expect((await world.root.get(at)).json).toMatchObject({ state: 'merged', labels: ['bug'] })
  },
)
