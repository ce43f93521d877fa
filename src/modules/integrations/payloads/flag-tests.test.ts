import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { maxPageBytes } from '../../text/wikis/pages.ts'
import { edited, write } from '../../text/wikis/testing.ts'
import { flags, hooked, ofKind, oid, projectBlock, text, tipOf, userBlock, withContent } from './testing.ts'

describe('tests of hooks', () => {
  test('every flag of a project can be tested with its newest record, or is refused without one', async ({ world }) => {
    await using made = await hooked(world, { push_events: false })
    const { receiver, project, hooks, hookId } = made
    const at = `/projects/${project.id}`
    const testFlag = (flag: string) => world.root.post(`${hooks}/${hookId}/test/${flag}`)
    for (const flag of flags.filter((each) => each !== 'wiki_page_events'))
      expect(await testFlag(flag)).toMatchObject({
        status: 422,
        json: { error: expect.stringMatching(/^Ensure the project has /) },
      })
    await withContent(world, project)
    await world.root.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' })
    for (const confidential of [false, true]) {
      const issue = (await world.root.post(`${at}/issues`, { title: 'Issue', confidential })).json
      await world.root.post(`${at}/issues/${issue.iid}/notes`, { body: 'Note' })
    }
    await world.root.post(`${at}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title: 'Merge' })
    await world.root.post(`${at}/statuses/${await tipOf(world, project)}`, { state: 'success', name: 'build' })
    const kinds = {
      push_events: ['Push Hook', 'push'],
      tag_push_events: ['Tag Push Hook', 'tag_push'],
      issues_events: ['Issue Hook', 'issue'],
      confidential_issues_events: ['Confidential Issue Hook', 'issue'],
      note_events: ['Note Hook', 'note'],
      confidential_note_events: ['Confidential Note Hook', 'note'],
      merge_requests_events: ['Merge Request Hook', 'merge_request'],
      job_events: ['Job Hook', 'build'],
      pipeline_events: ['Pipeline Hook', 'pipeline'],
      wiki_page_events: ['Wiki Page Hook', 'wiki_page'],
      releases_events: ['Release Hook', 'release'],
    } as const
    for (const [flag, [header, kind]] of Object.entries(kinds)) {
      expect(await testFlag(flag)).toMatchObject({ status: 201, json: { trigger: flag } })
      const { json } = await receiver.request(({ headers }) => headers['x-service-event'] === header)
      expect(json.object_kind).toBe(kind)
    }
    expect((await world.root.post(`${hooks}/${hookId}/test`)).json.trigger).toBe('push_events')
    expect((await testFlag('nothing')).status).toBe(400)
  })

  test('a page of a wiki is sent when it is created, changed and deleted', async ({ world }) => {
    await using made = await hooked(world)
    const { project, receiver } = made
    const at = `/projects/${project.id}/wikis`
    const { slug } = (await world.root.post(at, { title: 'Plans/First step', content: 'One' })).json
    const sent = async (action: string) =>
      (
        await receiver.request(
          ({ json }) => json.object_kind === 'wiki_page' && json.object_attributes.action === action,
        )
      ).json
    expect(await sent('create')).toMatchObject({
      user: userBlock,
      project: projectBlock,
      object_attributes: {
        title: 'First step',
        slug,
        content: 'One',
        format: 'markdown',
        url: expect.stringContaining(slug),
        version_id: oid,
        diff_url: expect.stringMatching(/\/-\/wikis\/.*\/diff\?version_id=[0-9a-f]{40}$/),
      },
    })
    await world.root.put(`${at}/${encodeURIComponent(slug)}`, { content: 'Two' })
    expect(await sent('update')).toMatchObject({ object_attributes: { content: 'Two' } })
    await world.root.delete(`${at}/${encodeURIComponent(slug)}`)
    expect(await sent('delete')).toMatchObject({ object_attributes: { slug, content: 'Two' } })
  })

  test('a page of a wiki that is too large to be shown is sent without its text', async ({ world }) => {
    await using made = await hooked(world, { push_events: false, wiki_page_events: true })
    const at = `/projects/${made.project.id}/wikis`
    await world.root.post(at, { title: 'Small', content: 'x' })
    await edited(world, { of: 'project', at, ...made.project }, (clone) =>
      write(clone, { 'Large.md': 'x'.repeat(maxPageBytes + 1) }),
    )
    const { json } = await made.receiver.request(({ json }) => json.object_attributes.slug === 'Large')
    expect(json.object_attributes).toMatchObject({ title: 'Large', content: '', message: 'Edit the wiki' })
  })

  test('a wiki page has all keys', async ({ world }) => {
    await using made = await hooked(world)
    await world.root.post(`${made.hooks}/${made.hookId}/test/wiki_page_events`)
    const { json } = await made.receiver.request(ofKind('wiki_page'))
    expect(json).toEqual({
      object_kind: 'wiki_page',
      user: userBlock,
      project: projectBlock,
      wiki: {
        web_url: text,
        git_ssh_url: expect.stringMatching(/\.wiki\.git$/),
        git_http_url: expect.stringMatching(/\.wiki\.git$/),
        path_with_namespace: `${made.project.full_path}.wiki`,
        default_branch: text,
      },
      object_attributes: {
        title: 'Home',
        content: 'A page',
        format: 'markdown',
        message: 'Create the page',
        slug: 'home',
        url: text,
        action: 'create',
      },
    })
  })
})
