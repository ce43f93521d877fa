import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { readTexts } from '../../review/closing/testing.ts'
import { openEpic } from '../epics/testing.ts'
import { openIssue } from '../issues/testing.ts'

const notesOn = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: any) => body)
const say = (who: Client, at: string, body: string) => who.post(`${at}/notes`, { body })
const html = async (who: Client, text: string, within: object = {}): Promise<string> =>
  (await who.post('/markdown', { text, gfm: true, ...within })).json.html

describe('what is said about an epic', () => {
  test('notes, discussions, awards and subscriptions work as on issues', async ({ world }) => {
    const reader = await world.user()
    const { at, id } = await openEpic(world)
    const note = (await say(reader, at, 'Good')).json
    expect(note).toMatchObject({ noteable_type: 'Epic', noteable_id: id, noteable_iid: 1, resolvable: false })
    const begun = (await reader.post(`${at}/discussions`, { body: 'Why?' })).json
    expect((await reader.post(`${at}/discussions/${begun.id}/notes`, { body: 'So' })).status).toBe(201)
    expect((await world.root.get(`${at}/discussions`)).json).toMatchObject([
      { individual_note: true, notes: [{ body: 'Good' }] },
      { individual_note: false, notes: [{ body: 'Why?' }, { body: 'So' }] },
    ])
    expect((await reader.put(`${at}/notes/${note.id}`, { body: 'Better' })).json.body).toBe('Better')
    const award = (await reader.post(`${at}/award_emoji`, { name: 'thumbsup' })).json
    expect(award).toMatchObject({ awardable_id: id, awardable_type: 'Epic' })
    expect((await reader.get(`${at}/award_emoji/${award.id}`)).json).toEqual(award)
    const onNote = (await reader.post(`${at}/notes/${note.id}/award_emoji`, { name: 'tada' })).json
    expect((await reader.get(`${at}/notes/${note.id}/award_emoji/${onNote.id}`)).json).toEqual(onNote)
    expect((await reader.get(at)).json).toMatchObject({ upvotes: 1, subscribed: true })
    expect((await reader.post(`${at}/unsubscribe`)).json.subscribed).toBe(false)
    expect((await reader.post(`${at}/unsubscribe`)).status).toBe(304)
    expect((await reader.get(`${at}/participants`)).json.map((each: any) => each.id)).toEqual([
      world.root.id,
      reader.id,
    ])
    expect(
      (await reader.get(`/groups/${(await reader.get(at)).json.group_id}/epics?my_reaction_emoji=thumbsup`)).json,
    ).toHaveLength(1)
  })

  test('an epic is named by its number, or by its ID as python-gitlab does, for notes, discussions and label events', async ({
    world,
  }) => {
    await openEpic(world)
    const { at, id, group } = await openEpic(world)
    await say(world.root, at, 'Here')
    await world.root.put(at, { labels: 'one' })
    const byId = at.replace(/\d+$/, String(id))
    expect(id).not.toBe(1)
    expect(await notesOn(world.root, byId)).toEqual(['Here'])
    expect((await say(world.root, byId, 'Again')).json).toMatchObject({ noteable_id: id, noteable_iid: 1 })
    for (const list of ['notes', 'discussions', 'resource_label_events'])
      expect((await world.root.get(`${byId}/${list}`)).json).toEqual((await world.root.get(`${at}/${list}`)).json)
    // The number wins over an id, and the id of an epic of another group is unknown.
    for (const _ of [2, 3, 4]) await openEpic(world, { group })
    expect((await say(world.root, at.replace(/1$/, '2'), 'Second')).json).toMatchObject({ noteable_iid: 2 })
    const foreign = await openEpic(world)
    expect((await world.root.get(at.replace(/1$/, `${foreign.id}/notes`))).status).toBe(404)
  })

  test('each note, discussion, award and event is also read alone', async ({ world }) => {
    const { at } = await openEpic(world)
    const begun = (await world.root.post(`${at}/discussions`, { body: 'Why?' })).json
    const [note] = begun.notes
    const inDiscussion = `${at}/discussions/${begun.id}/notes`
    expect((await world.root.put(`${inDiscussion}/${note.id}`, { body: 'How?' })).json.body).toBe('How?')
    for (const path of [`${inDiscussion}/${note.id}`, `${at}/notes/${note.id}`])
      expect((await world.root.get(path)).json.body).toBe('How?')
    expect((await world.root.get(inDiscussion)).json).toMatchObject([{ id: note.id }])
    expect((await world.root.get(`${at}/discussions/${begun.id}`)).json.notes).toHaveLength(1)
    for (const awarded of [at, `${at}/notes/${note.id}`]) {
      const award = (await world.root.post(`${awarded}/award_emoji`, { name: 'tada' })).json
      expect((await world.root.get(`${awarded}/award_emoji`)).json).toEqual([award])
      expect((await world.root.get(`${awarded}/award_emoji/${award.id}`)).json).toEqual(award)
      expect((await world.root.delete(`${awarded}/award_emoji/${award.id}`)).status).toBe(204)
    }
    await world.root.put(at, { state_event: 'close' })
    const [event] = (await world.root.get(`${at}/resource_state_events`)).json
    expect((await world.root.get(`${at}/resource_state_events/${event.id}`)).json).toEqual(event)
    const reader = await world.user()
    expect((await reader.post(`${at}/subscribe`)).json.subscribed).toBe(true)
    expect((await reader.post(`${at}/subscribe`)).status).toBe(304)
    expect((await world.root.delete(`${inDiscussion}/${note.id}`)).status).toBe(204)
  })

  test('mentions and marks become todos with their group, for those who may read it', async ({ world }) => {
    const [member, stranger] = [await world.user(), await world.user()]
    const { at, group, id } = await openEpic(world, { visibility: 'private', members: [[member, 'guest']] })
    await say(world.root, at, `@${member.username} and @${stranger.username}`)
    expect((await stranger.get('/todos')).json).toEqual([])
    const [todo, ...others] = (await member.get('/todos?type=Epic')).json
    expect(others).toEqual([])
    expect(todo).toMatchObject({
      target_type: 'Epic',
      target: { id },
      group: { id: group.id, full_path: group.full_path },
      action_name: 'directly_addressed',
    })
    expect(todo.project).toBeUndefined()
    expect(todo.target_url).toMatch(/\/-\/epics\/1#note_\d+$/)
    expect((await member.get(`/todos?group_id=${group.id}`)).json).toHaveLength(1)
    expect((await member.get('/todos?type=Issue')).json).toEqual([])
    expect((await member.post(`${at}/todo`)).status).toBe(304)
    await say(member, at, 'Done')
    expect((await member.get('/todos')).json).toEqual([])
    expect((await member.post(`${at}/todo`)).json).toMatchObject({ action_name: 'marked', state: 'pending' })
    await world.root.delete(`/groups/${group.id}/members/${member.id}`)
    expect((await member.get('/todos')).json).toEqual([])
  })

  test('texts refer to epics, from projects and groups, with notes for those who may read the source', async ({
    world,
  }) => {
    const reader = await world.user()
    const epic = await openEpic(world)
    const { group } = epic
    const project = await world.project({ group, visibility: 'public' })
    const issue = await openIssue(world, { project, description: `See &1, not \`&1\`` })
    const other = await openEpic(world, { description: `Like ${group.full_path}&1 and ${issue.project.full_path}#1` })
    await say(world.root, other.at, `${world.origin}/groups/${group.full_path}/-/epics/1`)
    const secret = await openEpic(world, { group, confidential: true, description: 'See &1' })
    await readTexts(world)
    const fromOther = `mentioned in epic ${other.group.full_path}&1`
    expect((await notesOn(world.root, epic.at)).toSorted()).toEqual(
      [`mentioned in issue ${project.path}#1`, fromOther, `mentioned in epic &${secret.iid}`].toSorted(),
    )
    expect((await notesOn(reader, epic.at)).toSorted()).toEqual(
      [fromOther, `mentioned in issue ${project.path}#1`].toSorted(),
    )
    expect(await notesOn(reader, issue.at)).toEqual([fromOther])
  })

  test('what happens to epics is in the activity of its author, for those who may read them', async ({ world }) => {
    const [ann, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const { at, group, id } = await openEpic(world, {
      visibility: 'private',
      members: [
        [ann, 'reporter'],
        [guest, 'guest'],
      ],
    })
    const own = await openEpic(world, { group, author: ann, title: 'Mine' })
    await ann.put(own.at, { state_event: 'close' })
    await say(ann, at, 'Good')
    await openEpic(world, { group, author: ann, confidential: true })
    const eventsFor = async (who: Client, query = '') => (await who.get(`/users/${ann.id}/events?${query}`)).json
    const shown = [
      {
        action_name: 'commented on',
        target_type: 'Note',
        project_id: null,
        note: { noteable_id: id, noteable_iid: 1 },
      },
      { action_name: 'closed', target_id: own.id },
      { action_name: 'opened', target_id: own.id, target_title: 'Mine' },
    ]
    expect(await eventsFor(guest)).toMatchObject(shown)
    expect(await eventsFor(guest, 'target_type=epic&action=closed')).toMatchObject([{ target_id: own.id }])
    expect(await eventsFor(ann)).toHaveLength(4)
    expect(await eventsFor(stranger)).toEqual([])
    await world.root.delete(own.at)
    expect(await eventsFor(guest)).toHaveLength(1)
  })

  test('Markdown links epics for those who may read them, by number, path and URL', async ({ world }) => {
    const reader = await world.user()
    const { group } = await openEpic(world, { title: 'Public & good' })
    await openEpic(world, { group, confidential: true })
    const project = await world.project({ group, visibility: 'public' })
    const url = `${world.origin}/groups/${group.full_path}/-/epics/1`
    const link = (text: string) =>
      `<a href="${url}" class="reference reference-epic" title="Public &amp; good">${text}</a>`
    const inProject = { project: project.full_path }
    expect(await html(reader, 'See &1', inProject)).toContain(link('&amp;1'))
    expect(await html(reader, `See ${group.full_path}&1`)).toContain(link(`${group.full_path}&amp;1`))
    expect(await html(reader, url)).toContain(link(`${group.full_path}&amp;1`))
    expect(await html(reader, url, inProject)).toContain(link('&amp;1'))
    for (const missing of ['&2', '&3', '&1x'])
      expect(await html(reader, `See ${missing}`, inProject)).not.toContain('<a')
    expect(await html(world.root, 'See &2', inProject)).toContain('<a')
  })

  test('quick actions change the epic and its place', async ({ world }) => {
    const reporter = await world.user()
    const epic = await openEpic(world, { members: [[reporter, 'reporter']] })
    const { group, at } = epic
    const [child, parent] = [await openEpic(world, { group }), await openEpic(world, { group })]
    await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })
    const answer = await say(
      reporter,
      at,
      [
        '/title New',
        '/label ~bug',
        `/child_epic &${child.iid}`,
        `/parent_epic &${parent.iid}`,
        '/confidential',
        '/close',
        '/award :tada:',
        '/todo',
      ].join('\n'),
    )
    expect(answer).toMatchObject({ status: 202 })
    expect(answer.json.summary).toEqual([
      'Changed the title to "New".',
      'Added ~"bug" label.',
      'Added &2 as child epic.',
      'Set &3 as parent epic.',
      'Made this epic confidential.',
      'Closed this epic.',
      'Toggled :tada: emoji award.',
      'Added a to-do item.',
    ])
    expect((await world.root.get(at)).json).toMatchObject({
      title: 'New',
      labels: ['bug'],
      parent_id: parent.id,
      confidential: true,
      state: 'closed',
    })
    expect((await world.root.get(child.at)).json.parent_id).toBe(epic.id)
    await say(reporter, at, `Away\n/remove_child_epic &${child.iid}\n/remove_parent_epic\n/reopen`)
    expect((await world.root.get(at)).json).toMatchObject({ parent_id: null, state: 'opened' })
    expect((await world.root.get(child.at)).json.parent_id).toBeNull()
    const made = await openEpic(world, { group, description: 'Text\n/label ~bug' })
    expect(made.record).toMatchObject({ description: 'Text', labels: ['bug'] })
    const hidden = await openEpic(world, { group, description: 'Text\n/confidential' })
    expect(hidden.record).toMatchObject({ description: 'Text', confidential: true })
    expect((await world.root.get(`${hidden.at}/notes`)).json).toEqual([])
    const guest = await world.user()
    expect((await say(guest, made.at, '/close')).json.summary).toEqual(['Could not apply close command.'])
  })

  test('quick actions of an issue put it into an epic, and promote it to one', async ({ world }) => {
    const epic = await openEpic(world)
    const { group } = epic
    const project = await world.project({ group, visibility: 'public' })
    await world.root.post(`/groups/${group.id}/labels`, { name: 'ours', color: 'red' })
    const issue = await openIssue(world, {
      project,
      labels: 'ours,theirs',
      description: 'As #9 says',
      confidential: true,
    })
    expect((await say(world.root, issue.at, '/epic &1')).json.summary).toEqual(['Added this issue to epic &1.'])
    expect((await world.root.get(issue.at)).json.epic.id).toBe(epic.id)
    await say(world.root, issue.at, '/remove_epic')
    expect((await world.root.get(issue.at)).json.epic).toBeNull()
    const author = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: author.id, access_level: 20 })
    await say(author, issue.at, 'I agree with !3')
    expect((await say(author, issue.at, '/promote')).json.summary).toEqual(['Could not apply promote command.'])
    expect((await say(world.root, issue.at, '/promote')).json.summary).toEqual(['Promoted this issue to an epic.'])
    const at = `/groups/${group.id}/epics/2`
    expect((await world.root.get(at)).json).toMatchObject({
      title: issue.record.title,
      description: `As ${project.full_path}#9 says`,
      labels: ['ours'],
      confidential: true,
      author: { id: world.root.id },
    })
    expect(await notesOn(world.root, at)).toEqual([
      'added to epic &1',
      'removed from epic &1',
      `I agree with ${project.full_path}!3`,
      `promoted from issue ${project.path}#1`,
    ])
    expect((await world.root.get(issue.at)).json.state).toBe('closed')
    expect((await notesOn(world.root, issue.at)).slice(-2)).toEqual(['promoted to epic &2', 'closed'])
  })

  test('an issue keeps its text when it becomes an epic, if links to its uploads would make that too long', async ({
    world,
  }) => {
    const { group } = await openEpic(world)
    const project = await world.project({ group, visibility: 'public' })
    const [few, many] = ['[a](/uploads/b)', '](/uploads/'.repeat(90_000)]
    const issue = await openIssue(world, { project, description: many })
    await say(world.root, issue.at, few)
    expect((await say(world.root, issue.at, '/promote')).json.summary).toEqual(['Promoted this issue to an epic.'])
    const at = `/groups/${group.id}/epics/2`
    expect((await world.root.get(at)).json.description === many).toBe(true)
    expect(await notesOn(world.root, at)).toContain(`[a](/${project.full_path}/uploads/b)`)
  })
})
