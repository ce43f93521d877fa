import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { unlikeAnswers } from '../../../test/alike-projects.ts'
import { test, unique, type World } from '../../../test/world.ts'
import type { Oid } from '../../git/format/oid.ts'
import { storedProject } from '../repository/commits/testing.ts'
import { openMergeRequest } from '../review/merge-requests/testing.ts'
import { entriesOf, exportOf, importOf, recordsOf } from './testing.ts'

/** A project with a record of every kind that the API can make. */
async function storied(world: World) {
  const group = await world.group({ visibility: 'public' })
  const [ann, ben] = [await world.user(), await world.user()]
  const merge = await openMergeRequest(world, {
    project: await storedProject(world, {
      group,
      members: [
        [ann, 'maintainer'],
        [ben, 'developer'],
      ],
    }),
    author: ben,
    description: 'Größe 💡 `code`',
  })
  const { project } = merge
  const at = `/projects/${project.id}`
  const ok = async (answer: Promise<{ status: number; text: string; json: any }>) => {
    const { status, text, json } = await answer
    if (status >= 300) throw new Error(`${status}: ${text}`)
    return json
  }
  await ok(world.root.post(`/groups/${group.id}/labels`, { name: 'of the group', color: '#112233' }))
  await ok(world.root.post(`/groups/${group.id}/milestones`, { title: 'Group milestone' }))
  const bug = await ok(ann.post(`${at}/labels`, { name: 'bug', color: '#ff0000', priority: 3 }))
  await ok(ann.post(`${at}/labels`, { name: 'idea', color: '#00ff00', description: 'An idea' }))
  const milestone = await ok(ann.post(`${at}/milestones`, { title: 'Next', due_date: '2031-01-01' }))
  const issue = await ok(
    ann.post(`${at}/issues`, {
      title: 'Ein Fehler – 漏洞',
      description: `See @${ben.username}`,
      labels: 'bug,of the group',
      assignee_ids: [ben.id],
      milestone_id: milestone.id,
      weight: 3,
      due_date: '2030-05-06',
    }),
  )
  const second = await ok(ben.post(`${at}/issues`, { title: 'Secret', confidential: true }))
  await ok(ann.post(`${at}/issues/${issue.iid}/links`, { target_project_id: project.id, target_issue_iid: second.iid }))
  const note = await ok(ben.post(`${at}/issues/${issue.iid}/notes`, { body: 'First\n\nsecond line' }))
  const thread = await ok(ann.post(`${at}/issues/${issue.iid}/discussions`, { body: 'A thread' }))
  await ok(ben.post(`${at}/issues/${issue.iid}/discussions/${thread.id}/notes`, { body: `Like #${second.iid}` }))
  await ok(ann.post(`${at}/issues/${issue.iid}/award_emoji`, { name: 'tada' }))
  await ok(ben.post(`${at}/issues/${issue.iid}/notes/${note.id}/award_emoji`, { name: 'rocket' }))
  await ok(ann.post(`${at}/issues/${issue.iid}/add_spent_time`, { duration: '1h' }))
  await ok(ann.post(`${at}/issues/${issue.iid}/time_estimate`, { duration: '3h' }))
  await ok(ann.put(`${at}/issues/${second.iid}`, { state_event: 'close' }))
  await ok(ann.put(`${at}/issues/${issue.iid}`, { labels: 'idea' }))
  await ok(ann.post(`${at}/boards`, { name: 'Board' }))
  const [board] = await ok(ann.get(`${at}/boards`))
  await ok(ann.post(`${at}/boards/${board.id}/lists`, { label_id: bug.id }))
  const on = `${at}/merge_requests/${merge.iid}`
  await ok(
    ann.post(`${on}/discussions`, {
      body: 'On a line',
      position: {
        position_type: 'text',
        base_sha: merge.base,
        start_sha: merge.base,
        head_sha: merge.head,
        new_path: 'b',
        old_path: 'b',
        new_line: 1,
      },
    }),
  )
  await ok(ann.put(on, { labels: 'bug', assignee_ids: [ann.id], reviewer_ids: [ben.id], milestone_id: milestone.id }))
  await ok(ann.post(`${on}/approve`))
  await ok(ann.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' }))
  await ok(
    ann.post(`${at}/releases`, {
      tag_name: 'v1',
      name: 'One',
      description: 'The first',
      milestones: ['Next', 'Group milestone'],
      assets: { links: [{ name: 'file', url: 'https://example.com/file' }] },
    }),
  )
  await ok(
    ann.post(`${at}/repository/commits/${merge.head}/comments`, { note: 'Nice', path: 'b', line: 1, line_type: 'new' }),
  )
  await ok(ann.post(`${at}/statuses/${merge.head}`, { state: 'success', name: 'ci', coverage: 12.5 }))
  await ok(ann.post(`${at}/protected_branches`, { name: 'release/*', push_access_level: 40 }))
  await ok(ann.post(`${at}/protected_tags`, { name: 'v*' }))
  await ok(ann.post(`${at}/badges`, { link_url: 'https://example.com', image_url: 'https://example.com/a.png' }))
  await ok(ann.post(`${at}/hooks`, { url: 'https://example.com/hook', issues_events: true, token: 'secret' }))
  await ok(ann.post(`${at}/hooks`, { url: 'https://user:password@example.com/hook' }))
  await ok(ann.post(`${at}/push_rule`, { commit_message_regex: '.', max_file_size: 5 }))
  await ok(
    ann.post(`${at}/snippets`, {
      title: 'Snip',
      visibility: 'public',
      files: [{ file_path: 'a.rb', content: 'puts 1' }],
    }),
  )
  const [snippet] = await ok(ann.get(`${at}/snippets`))
  await ok(ben.post(`${at}/snippets/${snippet.id}/notes`, { body: 'On a snippet' }))
  await ok(ann.post(`${at}/wikis`, { title: 'Home', content: 'Welcome' }))
  await ok(world.root.put(`${at}/custom_attributes/color`, { value: 'red' }))
  await ok(ann.post(`${at}/environments`, { name: 'production', external_url: 'https://example.com' }))
  await ok(
    ann.post(`${at}/deployments`, {
      environment: 'production',
      sha: merge.head,
      ref: 'main',
      tag: false,
      status: 'success',
    }),
  )
  const form = new FormData()
  form.set('file', new Blob(['attached']), 'ä file.txt')
  await ok(ann.send('POST', `${at}/uploads`, { body: form }))
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(unique('picture'))])
  const avatar = new FormData()
  avatar.set('avatar', new Blob([new Uint8Array(picture)]), 'x.png')
  avatar.set('description', 'What it is')
  avatar.set('topics[]', 'alpha')
  avatar.set('merge_method', 'ff')
  avatar.set('container_expiration_policy_attributes[name_regex]', '^old')
  avatar.set('container_expiration_policy_attributes[keep_n]', '5')
  await ok(world.root.send('PUT', at, { body: avatar }))
  return { project, group, ann, ben, merge, issue }
}

/** Endpoints about work, activity, credentials and people of this installation, which archives do not have. */
const ofTheInstallation =
  /\/(import|export|events|audit_events|access_tokens|access_requests|deploy_tokens|deploy_keys|invitations|forks|groups|notification_settings|services|integrations|starrers|storage|transfer_locations|users|variables|merge_ref|snapshot|archive|archive\.:format|search|user_agent_detail)(\/|$)/

/** Fields of records that are those of the new project. */
const fieldsOfTheInstallation = [
  'last_activity_at',
  'import_status',
  'permissions',
  'runners_token',
  // An imported hook waits for someone who enables it.
  'alert_status',
  'disabled_until',
]

describe('archives of projects', () => {
  test('an imported project exports to the same bytes', async ({ world }) => {
    const { project, group } = await storied(world)
    const first = await exportOf(world, project.id)
    const imported = await importOf(world, first, world.root, { namespace: String(group.id) })
    expect(imported).toMatchObject({ import_status: 'finished', import_error: null })
    const second = await exportOf(world, imported.id)
    const [before, after] = [await entriesOf(first), await entriesOf(second)]
    expect([...after.keys()]).toEqual([...before.keys()])
    for (const [name, content] of before)
      expect([name, after.get(name)!.toString('latin1')]).toEqual([name, content.toString('latin1')])
    expect(second.equals(first)).toBe(true)
    expect(recordsOf(before, 'hooks')).toMatchObject([{ url: 'https://example.com/hook' }])
    for (const content of before.values()) expect(content.includes('password')).toBe(false)
    expect((await world.root.get(`/projects/${imported.id}/hooks`)).json).toMatchObject([
      { url: 'https://example.com/hook', issues_events: true, alert_status: 'temporarily_disabled' },
    ])
    expect(recordsOf(before, 'issue_notes').length).toBeGreaterThan(3)
  })

  test('the API shows an imported project as the exported one, but for ids and what belongs to the installation', async ({
    world,
  }) => {
    const { project, group } = await storied(world)
    // Hooks with credentials are not in archives.
    for (const { id, url } of (await world.root.get(`/projects/${project.id}/hooks`)).json)
      if (url.includes('@')) await world.root.delete(`/projects/${project.id}/hooks/${id}`)
    const archive = await exportOf(world, project.id)
    const imported = await importOf(world, archive, world.root, { namespace: String(group.id) })
    const shown = async (id: number) => (await world.root.get(`/projects/${id}`)).json
    const { compared, unlike } = await unlikeAnswers(world.root, [await shown(project.id), await shown(imported.id)], {
      skips: ofTheInstallation,
      fields: new Set(fieldsOfTheInstallation),
    })
    expect(unlike).toEqual({})
    expect(compared).toBeGreaterThan(150)
  })

  test('titles of 255 characters of two units, and texts of a megabyte, survive', async ({ world }) => {
    const { id } = await world.project()
    const title = '💡'.repeat(255)
    const description = '"\n💡'.repeat(300_000)
    const made = await world.root.post(`/projects/${id}/issues`, { title, description })
    expect(made.status).toBe(201)
    await world.root.post(`/projects/${id}/labels`, { name: title, color: '#123456', description: '漢'.repeat(65_000) })
    await world.root.post(`/projects/${id}/issues/1/notes`, { body: 'x'.repeat(1_000_000) })
    const first = await exportOf(world, id)
    const imported = await importOf(world, first)
    expect(imported.import_error).toBeNull()
    expect((await world.root.get(`/projects/${imported.id}/issues/1`)).json).toMatchObject({ title, description })
    expect((await exportOf(world, imported.id)).equals(first)).toBe(true)
  })

  test('the statistics of an imported project count its wiki and snippets', async ({ world }) => {
    const { id } = await world.project()
    await world.root.post(`/projects/${id}/wikis`, { title: 'Home', content: 'Welcome' })
    await world.root.post(`/projects/${id}/snippets`, {
      title: 'Snip',
      visibility: 'private',
      files: [{ file_path: 'a.rb', content: 'puts 1' }],
    })
    const imported = await importOf(world, await exportOf(world, id))
    const { statistics } = (await world.root.get(`/projects/${imported.id}?statistics=true`)).json
    expect(statistics).toMatchObject({ wiki_size: expect.any(Number), snippets_size: 6 })
    expect(statistics.wiki_size).toBeGreaterThan(0)
    expect(statistics.storage_size).toBe(statistics.wiki_size + statistics.snippets_size)
  })

  test('a repository gives the same bundle however it is packed', async ({ world }) => {
    const project = await storedProject(world)
    let text = ''
    for (let n = 0; n < 40; n++) {
      text += `line ${n} ${unique('text')}\n`
      const parents = n === 0 ? [] : [project.repository.git('rev-parse', 'refs/heads/main') as Oid]
      project.repository.commit({ [`file-${n % 5}`]: text.repeat(20) }, { parents })
    }
    const first = await exportOf(world, project.id)
    for (const flags of [
      ['-a', '-d', '-f', '--window=50'],
      ['-a', '-d', '-F', '--window=0', '--write-bitmap-index'],
    ]) {
      project.repository.git('repack', '-q', ...flags)
      expect((await exportOf(world, project.id)).equals(first)).toBe(true)
    }
  })

  test('a project without a repository survives', async ({ world }) => {
    const { id } = await world.project()
    const first = await exportOf(world, id)
    const imported = await importOf(world, first)
    expect(imported.import_status).toBe('finished')
    expect((await exportOf(world, imported.id)).equals(first)).toBe(true)
  })
})
