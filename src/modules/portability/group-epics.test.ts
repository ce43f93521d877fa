import { describe, expect } from 'vitest'
import { type Answer, type Client, type TestGroup, test, unique, type World } from '../../../test/world.ts'
import { mailsTo } from '../instance/mails/testing.ts'
import { openEpic } from '../planning/epics/testing.ts'
import { openIssue } from '../planning/issues/testing.ts'
import { craft, entriesOf, groupExportOf, runGroupImports, upload } from './testing.ts'

const ok = async (answer: Promise<Answer>) => {
  const { status, text, json } = await answer
  if (status >= 300) throw new Error(`${status}: ${text}`)
  return json
}

/** A group with a subgroup and epics that use everything that epics have. */
async function stage(world: World) {
  const [ann, ben] = [await world.user(), await world.user()]
  const root = await world.group({ visibility: 'public', members: [[ann, 'owner']] })
  const below = await world.group({ visibility: 'public', parent: root, members: [[ben, 'developer']] })
  for (const group of [below, root])
    await ok(ann.post(`/groups/${group.id}/labels`, { name: 'same title', color: '#123456' }))
  await ok(ann.post(`/groups/${root.id}/labels`, { name: 'other', color: '#654321' }))
  // The parent has a higher number than its child.
  const child = await openEpic(world, {
    group: root,
    author: ann,
    title: 'Child',
    description: `Größe 💡 @${ben.username}`,
    labels: 'same title,other',
    start_date_fixed: '2031-02-03',
    start_date_is_fixed: true,
    due_date_fixed: '2031-03-04',
  })
  const other = await openEpic(world, { group: root, author: ann, title: 'Other', confidential: true })
  const parent = await openEpic(world, { group: root, author: ann, title: 'Parent' })
  const lower = await openEpic(world, { group: below, author: ben, title: 'Lower', labels: 'same title' })
  await ok(ann.put(other.at, { parent_id: parent.id }))
  await ok(ann.put(child.at, { parent_id: parent.id, labels: 'other' }))
  await ok(ann.put(lower.at, { parent_id: child.id, state_event: 'close' }))
  await ok(ann.put(other.at, { state_event: 'close' }))
  await ok(ann.put(other.at, { state_event: 'reopen' }))
  const note = await ok(ben.post(`${child.at}/notes`, { body: `Like &${parent.iid}` }))
  const thread = await ok(ann.post(`${child.at}/discussions`, { body: 'A thread' }))
  await ok(ben.post(`${child.at}/discussions/${thread.id}/notes`, { body: 'An answer' }))
  await ok(ann.post(`${child.at}/award_emoji`, { name: 'tada' }))
  await ok(ann.post(`${child.at}/notes/${note.id}/award_emoji`, { name: 'rocket' }))
  await ok(ben.post(`${parent.at}/subscribe`))
  // A project mentions an epic: archives of groups have nothing of projects.
  const project = await world.project({ group: below, visibility: 'private' })
  const issue = await openIssue(world, { project, description: `See ${root.full_path}&${parent.iid}` })
  await ok(world.root.post(`${child.at}/issues/${issue.id}`))
  return { ann, ben, root, below, parent, child, other, lower }
}

const linesOf = (entries: ReadonlyMap<string, Buffer>, name: string): any[] =>
  (entries.get(`tree/group/${name}.ndjson`)?.toString() ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

async function imported(world: World, archive: Buffer, who: Client): Promise<TestGroup> {
  const path = unique('imported')
  expect((await upload(who, archive, { name: path, path }, '/groups/import')).status).toBe(202)
  await runGroupImports(world)
  return (await who.get(`/groups/${path}`)).json
}

/** A new top-level group is private, and what is below it, too. */
const comparable = (entries: ReadonlyMap<string, Buffer>) =>
  [...entries].map(([name, content]) => [name, content.toString().replaceAll(/"visibility":\d+/g, '')])

describe('epics in archives of groups', () => {
  test('D2-GROUP-EXPORT-CONTENT epics of a group and a subgroup export to the same bytes after an import', async ({
    world,
  }) => {
    const { root } = await stage(world)
    const first = await groupExportOf(world, root.id)
    const entries = await entriesOf(first)
    expect([...entries.keys()].filter((name) => name.includes('epic'))).toEqual([
      'tree/group/epic_awards.ndjson',
      'tree/group/epic_label_events.ndjson',
      'tree/group/epic_labels.ndjson',
      'tree/group/epic_mentions.ndjson',
      'tree/group/epic_notes.ndjson',
      'tree/group/epic_state_events.ndjson',
      'tree/group/epic_subscriptions.ndjson',
      'tree/group/epics.ndjson',
    ])
    const parents = linesOf(entries, 'epics').map(({ title, parent, group }) => [title, parent, group])
    expect(parents).toEqual([
      ['Parent', undefined, 1],
      ['Child', 1, 1],
      ['Other', 1, 1],
      ['Lower', 2, 2],
    ])
    expect(linesOf(entries, 'epic_notes').map(({ note }) => note)).not.toContainEqual(
      expect.stringContaining('mentioned in issue'),
    )
    const group = await imported(world, first, world.root)
    const second = await entriesOf(await groupExportOf(world, group.id))
    expect(comparable(second)).toEqual(comparable(entries))
  })

  test('an imported epic has its children in their order, its notes, labels and dates, and later numbers are greater', async ({
    world,
  }) => {
    const { root, child, parent, ann } = await stage(world)
    const group = await imported(world, await groupExportOf(world, root.id), world.root)
    const at = `/groups/${group.id}/epics`
    const epics = (await world.root.get(`${at}?order_by=created_at&sort=asc`)).json
    expect(epics.map(({ title }: { title: string }) => title)).toEqual(['Child', 'Other', 'Parent', 'Lower'])
    const same = ({ id: _, group_id: _g, web_url: _u, references: _r, _links: _l, parent_id: _p, ...rest }: any) => rest
    expect(same((await world.root.get(`${at}/${child.iid}`)).json)).toMatchObject({
      ...same((await world.root.get(child.at)).json),
      labels: ['other'],
    })
    const children = async (of: string) =>
      (await world.root.get(`${of}/epics`)).json.map(({ iid }: { iid: number }) => iid)
    expect(await children(`${at}/${parent.iid}`)).toEqual(await children(parent.at))
    expect((await ann.get(`${at}/${parent.iid}`)).json.title).toBe('Parent')
    expect((await ok(world.root.post(at, { title: 'Next' }))).iid).toBe(4)
  })

  test('what unknown people wrote is the importer’s with their names, and exports to the same bytes after another import', async ({
    world,
  }) => {
    const { root, ben } = await stage(world)
    const zoe = await world.user()
    const theirs = await imported(world, await groupExportOf(world, root.id), zoe)
    const first = await groupExportOf(world, theirs.id)
    const entries = await entriesOf(first)
    const notes = linesOf(entries, 'epic_notes')
    expect(new Set(notes.map(({ author }) => author))).toEqual(new Set([zoe.username]))
    const [note] = notes.filter(({ system }) => system === undefined || system === false)
    expect(note.note).toMatch(/^Like &3\n\n \*By .+ on .+ UTC \(imported from a group archive\)\*$/)
    expect(linesOf(entries, 'epic_mentions')).toEqual([])
    expect(linesOf(entries, 'epic_subscriptions').filter(({ user }) => user === ben.username)).toEqual([])
    const again = await imported(world, first, world.root)
    // Another importer becomes a member.
    const written = (all: ReadonlyMap<string, Buffer>) =>
      comparable(all).filter(([name]) => !/(members|users)\.ndjson$/.test(name!))
    expect(written(await entriesOf(await groupExportOf(world, again.id)))).toEqual(written(entries))
  })

  test('the archive of a subgroup leaves out parents, labels and mentions of groups above it', async ({ world }) => {
    const { below, lower } = await stage(world)
    const archive = await groupExportOf(world, below.id)
    const entries = await entriesOf(archive)
    expect(linesOf(entries, 'epics')).toMatchObject([{ title: 'Lower', iid: lower.iid, group: 1, state: 'closed' }])
    expect(linesOf(entries, 'epics')[0]).not.toHaveProperty('parent')
    expect(archive.includes('as child epic')).toBe(false)
    expect(linesOf(entries, 'epic_notes').filter(({ note }) => note.includes('parent epic'))).toEqual([])
    const group = await imported(world, archive, world.root)
    expect(comparable(await entriesOf(await groupExportOf(world, group.id)))).toEqual(comparable(entries))
  })

  test('trees that the API refuses become smaller ones, and a reference to a later epic ends the import', async ({
    world,
  }) => {
    const times = { created_at: '2026-01-02T03:04:05.678Z', updated_at: '2026-01-02T03:04:05.678Z' }
    const archiveOf = (epics: readonly object[]) =>
      craft([
        { name: 'VERSION', content: '0.2.4\n' },
        { name: 'tree/group/groups.ndjson', content: '{}\n{"parent":1,"name":"sub","path":"sub"}\n' },
        {
          name: 'tree/group/epics.ndjson',
          content: epics
            .map((epic, at) =>
              JSON.stringify({
                group: 1,
                iid: at + 1,
                title: `E${at + 1}`,
                author: 'x',
                state: 'opened',
                ...times,
                ...epic,
              }),
            )
            .join('\n'),
        },
      ])
    const chain = [{}, { parent: 1 }, { parent: 2 }, { parent: 3 }, { parent: 4 }, { parent: 5 }, { parent: 6 }]
    // The group of a parent must be that of the child or above it.
    const [inSubgroup, above] = [
      { group: 2, iid: 1 },
      { iid: 8, parent: 8 },
    ]
    const group = await imported(world, archiveOf([...chain, inSubgroup, above]), world.root)
    const found = (await world.root.get(`/groups/${group.id}/epics`)).json
    const byId = new Map(found.map((epic: any) => [epic.id, epic.title]))
    expect(found.map((epic: any) => [epic.title, byId.get(epic.parent_id)]).toSorted()).toEqual([
      ['E1', undefined],
      ['E2', 'E1'],
      ['E3', 'E2'],
      ['E4', 'E3'],
      ['E5', 'E4'],
      ['E6', undefined],
      ['E7', 'E6'],
      ['E8', undefined],
      ['E9', undefined],
    ])
    const zoe = await world.user()
    for (const parent of [1, 2]) {
      const empty = await imported(world, archiveOf([{ parent }, {}]), zoe)
      expect((await zoe.get(`/groups/${empty.id}/epics`)).json).toEqual([])
      expect((await mailsTo(world, `${zoe.username}@example.com`)).at(-1)!.body).toContain(
        `epics, line 1: parent refers to line ${parent} of epics, which does not exist`,
      )
    }
  })
})
