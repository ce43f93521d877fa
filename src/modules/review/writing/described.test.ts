import { describe, expect } from 'vitest'
import { lockRow, lockTable } from '../../../../test/tables/instance.ts'
import { waitingForLocks } from '../../../../test/tables/locks.ts'
import { eventually } from '../../../../test/waiting.ts'
import { type Answer, type Client, test, unique, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

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

/** Sends quick actions as a note, or as the description. */
const sent = (client: Client, at: string, where: 'note' | 'description', actions: string): Promise<Answer> =>
  where === 'note' ? client.post(`${at}/notes`, { body: actions }) : client.put(at, { description: actions })

const isRebasing = async (world: World, at: string): Promise<boolean> =>
  (await world.root.get(`${at}?include_rebase_in_progress=true`)).json.rebase_in_progress

describe.each(['note', 'description'] as const)('quick actions of a %s keep their order:', (where) => {
  test('a rebase does not begin before the target branch changes', async ({ world }) => {
    const { project, at, base } = await openMergeRequest(world)
    const stable = project.repository.commit({ c: 'c' }, { branch: 'stable', parents: [base] })
    await world.root.get(at)
    const { waiting, began } = await world.db.transaction(async (tx) => {
      await lockTable(tx, 'merge_request_diffs')
      const waiting = sent(world.root, at, where, '/rebase\n/target_branch stable')
      await eventually(async () => expect(await waitingForLocks(world)).not.toEqual([]))
      return { waiting, began: await isRebasing(world, at) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(began).toBe(false)
    await world.runJobs()
    const parents = async () =>
      (await world.root.get(`/projects/${project.id}/repository/commits/topic`)).json.parent_ids
    await expect.poll(parents).toEqual([stable])
  })

  test('approval and rebase follow after the merge request is open again', async ({ world }) => {
    const dev = await world.user()
    const { at } = await openMergeRequest(world, { members: [[dev, 'developer']] })
    await world.root.put(at, { state_event: 'close' })
    const answer = await sent(dev, at, where, '/approve\n/reopen\n/rebase')
    if (where === 'note')
      expect(answer.json.summary).toEqual([
        'Approved the current merge request.',
        'Reopened this merge request.',
        'Scheduled a rebase of branch topic.',
      ])
    expect((await world.root.get(`${at}/approvals`)).json.approved_by).toHaveLength(1)
    expect(await isRebasing(world, at)).toBe(true)
  })

  test('an approval that is revoked after the merge counts for it, and stays', async ({ world }) => {
    const dev = await world.user()
    const { at } = await openMergeRequest(world, { members: [[dev, 'maintainer']], approvals_before_merge: 1 })
    expect((await dev.post(`${at}/approve`)).status).toBe(201)
    const answer = await sent(dev, at, where, '/merge\n/unapprove')
    if (where === 'note')
      expect(answer.json.summary).toEqual(['Merged this merge request.', 'Could not apply unapprove command.'])
    expect((await world.root.get(at)).json.state).toBe('merged')
    expect((await world.root.get(`${at}/approvals`)).json.approved_by).toHaveLength(1)
  })

  test('what is closed by one is not opened again by the next', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    const answer = await sent(world.root, at, where, '/close\n/reopen')
    if (where === 'note')
      expect(answer.json.summary).toEqual(['Closed this merge request.', 'Could not apply reopen command.'])
    expect((await world.root.get(at)).json.state).toBe('closed')
  })
})
