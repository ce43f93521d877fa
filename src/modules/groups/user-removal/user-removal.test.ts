import { describe, expect } from 'vitest'
import { failJobs } from '../../../../test/jobs.ts'
import { changeMember, membersLast } from '../../../../test/tables/access.ts'
import { closersOf } from '../../../../test/tables/epics.ts'
import { auditOfNoun, caughtUp, eventsOf } from '../../../../test/tables/events.ts'
import { projectRow, refuseCascades } from '../../../../test/tables/projects.ts'
import { today } from '../../../../test/tables/statements.ts'
import { moveTokens } from '../../../../test/tables/tokens.ts'
import { ghosts, referencesToUsers } from '../../../../test/tables/users.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest, refsDropped } from '../../review/merge-requests/testing.ts'
import { contributions } from './contributions.ts'
import { removeUser, resumeUserRemovals } from './jobs.ts'
import { ensurePlaceholder } from './placeholder.ts'

const remove = (world: World, who: Client, hard = false) =>
  world.root.delete(`/users/${who.id}${hard ? '?hard_delete=true' : ''}`)

/** Runs the job twice, which must change nothing the second time. */
const settle = async (world: World, who: Client, hard = false) => {
  const ctx = await world.app.open(null)
  await removeUser.run({ userId: who.id, hard }, ctx)
  await removeUser.run({ userId: who.id, hard }, ctx)
}

/** A comment and a status by a developer of a public project. */
async function contribution(world: World, who: Client) {
  const project = await storedProject(world, { members: [[who, 'developer']] })
  const sha = project.repository.commit({ 'a.txt': 'a\n' })
  const comments = `/projects/${project.id}/repository/commits/${sha}/comments`
  const statuses = `/projects/${project.id}/repository/commits/${sha}/statuses`
  expect((await who.post(comments, { note: 'Well done' })).status).toBe(201)
  expect((await who.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success' })).status).toBe(201)
  const authors = async (path: string) =>
    (await world.root.get(path)).json.map(({ author }: { author: { username: string } | null }) => author?.username)
  return { project, comments: () => authors(comments), statuses: () => authors(statuses) }
}

describe('DELETE /users/:id', () => {
  test('stars, mirrors and snippets of others stay when a user is deleted with their contributions', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = await world.project({ visibility: 'public' })
    const snippet = { title: 'x', file_name: 'a', content: 'x', visibility: 'private' }
    const kept = (await bob.post('/snippets', snippet)).json.id
    await ann.post('/snippets', snippet)
    for (const who of [ann, bob]) expect((await who.post(`/projects/${id}/star`)).status).toBe(201)
    const mirror = { url: 'https://203.0.114.9/a.git', enabled: true }
    expect((await world.root.post(`/projects/${id}/remote_mirrors`, mirror)).status).toBe(201)
    await remove(world, ann, true)
    await settle(world, ann, true)
    const { json: starrers } = await world.root.get(`/projects/${id}/starrers`)
    expect(starrers.map(({ user }: { user: { id: number } }) => user.id)).toEqual([bob.id])
    expect((await world.root.get(`/projects/${id}/remote_mirrors`)).json).toMatchObject([{ enabled: true }])
    expect((await bob.get(`/snippets/${kept}`)).status).toBe(200)
  })

  test('the refs of merge requests are deleted when their author is deleted with their contributions', async ({
    world,
  }) => {
    const ann = await world.user()
    const project = await storedProject(world, { members: [[ann, 'developer']] })
    const made = await openMergeRequest(world, { project, author: ann })
    const refs = () => project.repository.git('for-each-ref', '--format=%(refname)', 'refs/merge-requests')
    expect(refs()).toBe(`refs/merge-requests/${made.iid}/head`)
    await remove(world, ann, true)
    await settle(world, ann, true)
    await refsDropped(world, made)
    expect(refs()).toBe('')
  })

  test('D3-USER-DELETE: administrators delete users with 204, then 404', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    for (const who of [ann, bob])
      expect(await who.delete(`/users/${ann.id}`)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await world.anonymous.delete(`/users/${ann.id}`)).status).toBe(401)
    expect((await world.root.delete(`/users/${ann.id}`, { headers: stale })).status).toBe(412)
    expect(await remove(world, ann)).toMatchObject({ status: 204, text: '' })
    await settle(world, ann)
    expect(await remove(world, ann)).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
    expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
  })

  test('a deleted user has no access at once, and their name and projects are gone', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const mine = (await ann.post('/projects', { name: 'Mine', visibility: 'public' })).json
    expect((await remove(world, ann)).status).toBe(204)
    // A process is notified of revoked tokens within a second.
    await expect.poll(async () => (await ann.get('/user')).status).toBe(401)
    const password = Buffer.from(`${ann.username}:correct horse battery`).toString('base64')
    const refs = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    expect((await world.anonymous.get(refs, { headers: { authorization: `Basic ${password}` } })).status).toBe(403)
    expect((await world.root.get(`/projects/${mine.id}`)).status).toBe(404)
    expect((await world.root.get(`/projects/${project.id}/members/${ann.id}`)).status).toBe(404)
    expect((await world.root.get(`/users/${ann.id}`)).json.state).toBe('blocked')
    const leaving = { status: 403, json: { message: '403 Forbidden - This user is being removed' } }
    for (const way of ['unblock', 'activate', 'ban', 'unban', 'deactivate', 'block'])
      expect(await world.root.post(`/users/${ann.id}/${way}`)).toMatchObject(leaving)
    expect(await world.root.put(`/users/${ann.id}`, { username: unique('stays') })).toMatchObject(leaving)
    const again = { user_id: ann.id, access_level: 30 }
    expect(await world.root.post(`/projects/${project.id}/members`, again)).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
    expect((await world.root.get(`/users/${ann.id}`)).json.state).toBe('blocked')
    expect((await remove(world, ann)).status).toBe(204)
    await settle(world, ann)
    expect(await projectRow(world, mine.id, 'id')).toEqual([])
    expect(
      (
        await world.root.post('/users', {
          username: ann.username,
          email: `${ann.username}@example.com`,
          name: 'Another',
          password: 'correct horse',
        })
      ).status,
    ).toBe(201)
  })

  test('D3-USER-SOFT-DELETE: contributions go to the ghost user, who cannot sign in', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const [of, by] = [await contribution(world, ann), await contribution(world, bob)]
    await ann.post(`/projects/${of.project.id}/star`)
    await bob.post(`/projects/${of.project.id}/star`)
    await remove(world, ann)
    await Promise.all([settle(world, ann), remove(world, bob).then(() => settle(world, bob))])
    for (const made of [of, by]) {
      expect(await made.comments()).toEqual(['ghost'])
      expect(await made.statuses()).toEqual(['ghost'])
    }
    expect((await world.root.get(`/projects/${of.project.id}`)).json.star_count).toBe(0)
    const [ghost] = (await world.root.get('/users?username=ghost')).json
    expect(ghost).toMatchObject({ name: 'Ghost User', state: 'active', is_admin: false })
    const internal = '403 Forbidden - This action cannot be performed by internal users'
    // Earlier versions created tokens of it.
    const eve = await world.user()
    await moveTokens(world, eve.id, ghost.id)
    expect(await eve.get('/user')).toMatchObject({ status: 403, json: { message: internal } })
    for (const call of ['block', 'deactivate', 'ban'])
      expect((await world.root.post(`/users/${ghost.id}/${call}`)).status).toBe(403)
    expect((await world.root.delete(`/users/${ghost.id}`)).status).toBe(403)
    expect((await world.root.get('/users?active=true&search=ghost')).json).toEqual([])
  })

  test.for([false, true])(
    'closed_by and merged_by of issues, epics and merge requests end with the user, with hard_delete=%s; the state stays',
    async (hard, { world }) => {
      const ann = await world.user()
      const { project, at: merged, ...first } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
      const closed = (await openMergeRequest(world, { project, branch: 'other' })).at
      const issue = `/projects/${project.id}/issues/${(await world.root.post(`/projects/${project.id}/issues`, { title: 'Closed' })).json.iid}`
      const group = await world.group({ members: [[ann, 'maintainer']] })
      const epic = `/groups/${group.id}/epics/${(await world.root.post(`/groups/${group.id}/epics`, { title: 'Closed' })).json.iid}`
      for (const at of [issue, closed, epic])
        expect(await ann.put(at, { state_event: 'close' })).toMatchObject({ status: 200, json: { state: 'closed' } })
      expect(await ann.put(`${merged}/merge`, { sha: first.head })).toMatchObject({ status: 200 })
      const by = { id: ann.id }
      for (const at of [issue, closed]) expect((await world.root.get(at)).json.closed_by).toMatchObject(by)
      expect((await world.root.get(merged)).json.merged_by).toMatchObject(by)
      await remove(world, ann, hard)
      await settle(world, ann, hard)
      for (const at of [issue, closed]) {
        const after = { state: 'closed', closed_at: expect.any(String), closed_by: null }
        expect((await world.root.get(at)).json).toMatchObject(after)
        expect((await world.root.get(`${at.slice(0, at.lastIndexOf('/'))}?state=closed`)).json).toMatchObject([after])
      }
      const after = { state: 'merged', merged_at: expect.any(String), merged_by: null }
      expect((await world.root.get(merged)).json).toMatchObject(after)
      expect((await world.root.get(epic)).json).toMatchObject({ state: 'closed', closed_at: expect.any(String) })
      expect(await closersOf(world, group.id)).toEqual([null])
    },
  )

  test('the ghost user has a number in its name when the name is taken', async () => {
    await using world = await World.start()
    await world.root.post('/groups', { name: 'Ghost', path: 'GHOST' })
    await world.user({ username: 'unlike', email: 'ghost1@example.com' })
    const ann = await world.user()
    await remove(world, ann)
    await settle(world, ann)
    expect(await ghosts(world, 'username')).toEqual([{ username: 'ghost2' }])
  })

  test('D3-USER-HARD-DELETE: hard_delete deletes contributions and solely owned groups', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { comments, statuses } = await contribution(world, ann)
    const alone = await world.group({}, ann)
    const inside = await world.group({ parent: alone }, ann)
    const shared = await world.group({ members: [[bob, 'owner']] }, ann)
    const refused = { status: 409, json: { message: 'User cannot be removed while is the sole-owner of a group' } }
    expect(await remove(world, ann)).toMatchObject(refused)
    expect((await ann.get('/user')).status).toBe(200)
    expect((await remove(world, ann, true)).status).toBe(204)
    await settle(world, ann, true)
    expect(await comments()).toEqual([])
    // Statuses of commits belong to the project and remain.
    expect(await statuses()).toEqual([undefined])
    for (const { id } of [alone, inside]) expect((await world.root.get(`/groups/${id}`)).status).toBe(404)
    expect((await bob.get(`/groups/${shared.id}`)).status).toBe(200)
  })

  test('D3-USER-HARD-DELETE: groups with another owner remain, even a blocked one', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ members: [[bob, 'owner']] }, ann)
    await world.root.post(`/users/${bob.id}/block`)
    expect((await remove(world, ann, true)).status).toBe(204)
    await settle(world, ann, true)
    await world.root.post(`/users/${bob.id}/unblock`)
    expect((await bob.get(`/groups/${group.id}`)).status).toBe(200)
  })

  test('409 for deleting the only active owner of a group; with another one, 204', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ members: [[bob, 'owner']] }, ann)
    await changeMember(world, group.id, bob.id, { expires_at: today })
    expect((await remove(world, ann)).status).toBe(409)
    await membersLast(world, group.id)
    await world.root.post(`/users/${bob.id}/block`)
    expect((await remove(world, ann)).status).toBe(409)
    await world.root.post(`/users/${bob.id}/unblock`)
    // Of two concurrent deletions, one owner remains.
    const answers = await Promise.all([remove(world, ann), remove(world, bob)])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  test('user_deleted names the administrator, once', async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    await remove(world, ann)
    // Repeating the request succeeds without an event.
    expect((await remove(world, ann)).status).toBe(204)
    expect(
      await eventsOf(world, { kind: 'user_deleted', payload: { user_id: String(ann.id) } }, 'actor_id', 'payload'),
    ).toEqual([{ actor_id: 1, payload: { user_id: ann.id, hard_delete: false } }])
  })

  test('the memberships of a deleted user end in the change feed, the audit log and the activity of the project, without those of what goes with the user', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const [ann, boss] = [await world.user(), await world.user()]
    const group = await world.group({
      members: [
        [boss, 'owner'],
        [ann, 'developer'],
      ],
    })
    const project = await world.project({ group, members: [[ann, 'maintainer']] })
    expect((await ann.post('/projects', { name: 'Mine' })).status).toBe(201)
    const { id: namespace_id } = await world.group({}, ann)
    expect((await ann.post('/projects', { name: 'Ours', namespace_id })).status).toBe(201)
    await caughtUp(world)
    const start = (await boss.get('/events/changes')).headers['x-next-cursor']
    expect((await remove(world, ann, true)).status).toBe(204)
    const left = () =>
      eventsOf(world, { kind: 'member_removed', payload: { user_id: ann.id } }, 'group_id', 'project_id', 'actor_id')
    const ends = [
      { group_id: group.id, project_id: null, actor_id: 1 },
      { group_id: null, project_id: project.id, actor_id: 1 },
    ]
    expect(await left()).toEqual(ends)
    expect((await world.root.get(`/projects/${project.id}/events?action=left`)).json).toMatchObject([
      { action_name: 'left', author_id: ann.id },
    ])
    await settle(world, ann, true)
    expect(await left()).toEqual(ends)
    await caughtUp(world)
    const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
    expect(changes.map(({ kind, target_id, on_type, on_id }) => [kind, target_id, on_type, on_id])).toEqual([
      ['member_removed', ann.id, 'Group', group.id],
      ['member_removed', ann.id, 'Project', project.id],
    ])
    for (const path of [`/groups/${group.id}`, `/projects/${project.id}`]) {
      const [audited] = ((await world.root.get(`${path}/audit_events`)).json as any[]).filter(
        ({ event_name }) => event_name === 'member_removed',
      )
      expect(audited, path).toMatchObject({
        author_id: 1,
        details: { remove: 'user_access', target_id: ann.id, target_details: `Name of ${ann.username}` },
      })
    }
  })

  test('issues, merge requests and epics that hard_delete deletes are deletions in the change feed', async ({
    world,
  }) => {
    const [ann, boss] = [await world.user(), await world.user()]
    const group = await world.group({
      visibility: 'public',
      members: [
        [boss, 'owner'],
        [ann, 'developer'],
      ],
    })
    const project = await storedProject(world, { group })
    project.repository.commit({ 'a.txt': 'a\n' })
    const made = async (path: string, body: object) => {
      const { status, json, text } = await ann.post(path, body)
      expect(status, text).toBe(201)
      return json
    }
    const issue = await made(`/projects/${project.id}/issues`, { title: 'Broken', confidential: true })
    const epic = await made(`/groups/${group.id}/epics`, { title: 'Plan' })
    await made(`/projects/${project.id}/repository/commits`, {
      branch: 'mine',
      start_branch: 'main',
      commit_message: 'Mine',
      actions: [{ action: 'create', file_path: 'b.txt', content: 'b' }],
    })
    const merged = { source_branch: 'mine', target_branch: 'main', title: 'Mine' }
    const mergeRequest = await made(`/projects/${project.id}/merge_requests`, merged)
    expect((await remove(world, ann, true)).status).toBe(204)
    await caughtUp(world)
    const start = (await boss.get('/events/changes')).headers['x-next-cursor']
    await settle(world, ann, true)
    await caughtUp(world)
    const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
    expect(changes.map(({ kind, target_id }) => [kind, target_id])).toEqual([
      ['epic_deleted', epic.id],
      ['issue_deleted', issue.id],
      ['merge_request_deleted', mergeRequest.id],
    ])
  })

  test('notes that hard_delete deletes are deletions in the change feed, once', async ({ world }) => {
    const [ann, boss] = [await world.user(), await world.user()]
    const group = await world.group({ visibility: 'public', members: [[boss, 'owner']] })
    const { at, project } = await openMergeRequest(world, { visibility: 'public' })
    expect(
      (await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })).status,
    ).toBe(201)
    const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Stays' })).json
    const epic = (await boss.post(`/groups/${group.id}/epics`, { title: 'Stays' })).json
    const places = [
      [`/projects/${project.id}/issues/${issue.iid}`, 'Issue', issue.id],
      [at, 'MergeRequest', (await world.root.get(at)).json.id],
      [`/groups/${group.id}/epics/${epic.iid}`, 'Epic', epic.id],
    ] as const
    const expected: unknown[] = []
    for (const [path, type, id] of places) {
      const note = await ann.post(`${path}/notes`, { body: 'Mine' })
      expect(note.status, note.text).toBe(201)
      expected.push(['note_deleted', note.json.id, type, id])
    }
    // Leaves a system note, which has no events.
    expect((await ann.put(`/projects/${project.id}/issues/${issue.iid}`, { title: 'Renamed' })).status).toBe(200)
    const mine = (await ann.post(`/projects/${project.id}/issues`, { title: 'Goes' })).json
    await ann.post(`/projects/${project.id}/issues/${mine.iid}/notes`, { body: 'Goes, too' })
    await caughtUp(world)
    const start = (await boss.get('/events/changes')).headers['x-next-cursor']
    expect((await remove(world, ann, true)).status).toBe(204)
    await settle(world, ann, true)
    await caughtUp(world)
    const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
    expect(
      changes
        .filter(({ kind }) => kind.endsWith('_deleted'))
        .map(({ kind, target_id, on_type, on_id }) => [kind, target_id, on_type, on_id]),
    ).toEqual([['issue_deleted', mine.id, null, null], ...expected])
  })

  test('what waited only for a discussion of a user is merged when hard_delete deletes it', async ({ world }) => {
    const ann = await world.user()
    const { at, project } = await openMergeRequest(world, {})
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
    await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
    const { sha } = (await world.root.get(at)).json
    await world.root.post(`/projects/${project.id}/statuses/${sha}`, { state: 'running' })
    const waits = await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })
    expect(waits.json, waits.text).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
    expect((await ann.post(`${at}/discussions`, { body: 'Why?' })).status).toBe(201)
    await world.root.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success' })
    expect((await world.root.get(at)).json.state).toBe('opened')
    await remove(world, ann, true)
    await world.runJobs()
    await expect.poll(async () => (await world.root.get(at)).json.state).toBe('merged')
  })

  test('invitations to an address of a deleted user are withdrawn in the audit log, without those of what is deleted', async ({
    world,
  }) => {
    const ann = await world.user()
    const [group, project] = [await world.group(), await world.project()]
    const email = `${unique('invited')}@example.com`
    const added = await ann.post('/user/emails', { email })
    expect(added.status).toBe(201)
    for (const place of [`/groups/${group.id}`, `/projects/${project.id}`]) {
      const invited = await world.root.post(`${place}/invitations`, { email, access_level: 30 })
      expect(invited.json).toMatchObject({ status: 'success' })
    }
    await remove(world, ann)
    await settle(world, ann)
    for (const entity_id of [group.id, project.id])
      expect(await auditOfNoun(world, { noun: 'invitation', entity_id }, 'verb', 'target_details')).toEqual([
        { verb: 'add', target_details: email },
        { verb: 'remove', target_details: email },
      ])
  })

  test('the token of a bot whose account is deleted is revoked in the audit log of its project or group', async ({
    world,
  }) => {
    const [group, project] = [await world.group(), await world.project()]
    for (const place of [`/groups/${group.id}`, `/projects/${project.id}`]) {
      const asked = { name: 'bot', scopes: ['api'], access_level: 40 }
      const { json: token } = await world.root.post(`${place}/access_tokens`, asked)
      for (const _ of ['once', 'again']) expect((await world.root.delete(`/users/${token.user_id}`)).status).toBe(204)
      const audited = ((await world.root.get(`${place}/audit_events`)).json as any[]).filter(({ event_name }) =>
        event_name.startsWith('resource_access_token'),
      )
      expect(audited.map(({ event_name, details }) => [event_name, details.target_id])).toEqual([
        ['resource_access_token_revoked', token.id],
        ['resource_access_token_created', token.id],
      ])
    }
  })

  test('a user whose removal was interrupted is still being removed: no one unblocks or adds them, and their deletion is no second one', async ({
    world,
  }) => {
    const ann = await world.user()
    const { project } = await contribution(world, ann)
    await ann.post('/projects', { name: 'Mine' })
    await remove(world, ann)
    const ctx = await world.app.open(null)
    // Interrupted between the projects of the user and the contributions.
    const killed: Ctx = {
      ...ctx,
      transaction: (work) =>
        work === (ensurePlaceholder as unknown) ? Promise.reject('killed') : ctx.transaction(work),
    }
    await expect(removeUser.run({ userId: ann.id, hard: false }, killed)).rejects.toBe('killed')
    expect(await world.root.post(`/users/${ann.id}/unblock`)).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('This user is being removed') },
    })
    const added = await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
    expect(added.status).toBe(404)
    expect((await remove(world, ann)).status).toBe(204)
    expect(
      (await eventsOf(world, { kind: 'user_deleted' })).filter(({ payload }) => payload.user_id === ann.id),
    ).toHaveLength(1)
    await settle(world, ann)
    expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
    expect(await world.user({ username: ann.username })).toMatchObject({ username: ann.username })
  })

  test('a removal of a user that failed too often is restarted, as it was requested', async ({ world }) => {
    const [ann, ben] = [await world.user(), await world.user()]
    await remove(world, ann, true)
    await remove(world, ben)
    await failJobs(world, [`remove_user:${ann.id}`])
    await resumeUserRemovals.run({}, await world.app.open(null))
    expect(await world.jobs(`remove_user:${ann.id}`)).toMatchObject([
      { attempts: 0, payload: { userId: ann.id, hard: true } },
    ])
    expect(await world.jobs(`remove_user:${ben.id}`)).toHaveLength(1)
  })

  test.each([false, true])(
    'what names a user is changed before the account is deleted, with hard_delete=%s',
    async (hard) => {
      await using world = await World.start()
      const ann = await world.user()
      const { project, statuses } = await contribution(world, ann)
      const { at } = await openMergeRequest(world, { project, author: world.root })
      const branches = `/projects/${project.id}/repository/branches`
      expect((await ann.post(`${branches}?branch=of-ann&ref=main`)).status).toBe(201)
      expect((await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 40 })).status).toBe(200)
      expect((await ann.put(at, { state_event: 'close' })).status).toBe(200)
      await remove(world, ann, hard)
      await refuseCascades(
        world,
        contributions.map(({ table }) => table),
        'update',
      )
      await removeUser.run({ userId: ann.id, hard }, await world.app.open(null))
      expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
      expect(await statuses()).toEqual([hard ? undefined : 'ghost'])
      expect((await world.root.get(at)).json.closed_by).toBeNull()
    },
  )

  test('the removal job finishes from any state that a crash left', async () => {
    await using world = await World.start()
    const ann = await world.user({ username: unique('ann') })
    const { comments } = await contribution(world, ann)
    await ann.post('/projects', { name: 'Mine' })
    await remove(world, ann)
    await world.runJobs()
    await expect.poll(async () => (await world.root.get(`/users/${ann.id}`)).status).toBe(404)
    expect(await comments()).toEqual(['ghost'])
  })
})

/** Tables whose rows belong to a user and are deleted with the account. */
const belongings: readonly string[] = [
  'access_requests',
  'access_tokens',
  'approval_rule_users',
  'approvals',
  'approvers',
  'archive_imports',
  'board_assignees',
  'board_lists',
  'custom_attributes',
  'email_addresses',
  'emails',
  'export_requests',
  'file_locks',
  'forge_imports',
  'gpg_keys',
  'group_access',
  'idempotency_keys',
  'identities',
  'issue_agents',
  'issue_assignees',
  'label_subscriptions',
  'mail_links',
  'members',
  'mentions',
  'merge_request_assignees',
  'merge_request_committers',
  'merge_request_reviewers',
  'namespaces',
  'notification_settings',
  'project_access',
  'protected_ref_access',
  'resource_bots',
  'snippet_agents',
  'ssh_keys',
  'stars',
  'subscriptions',
  'term_agreements',
  'todos',
  'two_factor_demands',
  'two_factors',
  'user_follows',
  'user_statuses',
]

test('every foreign key to users is a contribution or is deleted with the user', async ({ world }) => {
  const keys: { table: string; column: string; rule: string; indexed: boolean }[] = await referencesToUsers(world)
  const named = (each: { table: string; column: string }) => `${each.table}.${each.column}`
  const listed = new Set(contributions.map(named))
  const others = keys.filter((key) => !listed.has(named(key)))
  expect(others.filter(({ table, rule }) => rule !== 'c' || !belongings.includes(table)).map(named)).toEqual([])
  expect([...listed].filter((each) => !keys.map(named).includes(each))).toEqual([])
  const forgotten = contributions.filter(({ hard }) => hard === 'anonymized').map(named)
  expect(keys.filter((key) => forgotten.includes(named(key)) && key.rule !== 'n').map(named)).toEqual([])
  expect(keys.filter(({ indexed }) => !indexed).map(named)).toEqual([])
})

const stale = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
