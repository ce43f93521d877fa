import { describe, expect } from 'vitest'
import { storeStatuses } from '../../../../test/tables/ci.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import {
  commitBlock,
  currentProject,
  hooked,
  longRepositoryBlock,
  nullOid,
  number,
  oid,
  projectBlock,
  text,
  time,
  tipOf,
  userBlock,
  withContent,
} from './testing.ts'

describe('payloads of pipelines and releases', () => {
  test('pipelines and jobs have all keys, with the status of the event', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    for (const state of ['running', 'success'])
      await world.root.post(`/projects/${project.id}/statuses/main`.replace('main', await tipOf(world, project)), {
        state,
        name: 'build',
      })
    const pipeline = await receiver.request(({ json }) => json.object_attributes?.status === 'success')
    expect(pipeline.headers['x-service-event']).toBe('Pipeline Hook')
    expect(pipeline.json).toEqual({
      object_kind: 'pipeline',
      object_attributes: {
        id: number,
        iid: 1,
        ref: 'main',
        tag: false,
        sha: oid,
        before_sha: nullOid,
        source: 'external',
        status: 'success',
        detailed_status: 'passed',
        stages: ['external'],
        created_at: time,
        finished_at: time,
        duration: number,
        variables: [],
        url: expect.stringMatching(/\/-\/pipelines\/\d+$/),
      },
      merge_request: null,
      user: userBlock,
      project: currentProject,
      commit: commitBlock,
      builds: [],
    })
    const job = await receiver.request(({ json }) => json.build_status === 'running')
    expect(job.headers['x-service-event']).toBe('Job Hook')
    expect(job.json).toEqual({
      object_kind: 'build',
      ref: 'main',
      tag: false,
      before_sha: nullOid,
      sha: oid,
      build_id: number,
      build_name: 'build',
      build_stage: 'external',
      build_status: 'running',
      build_started_at: time,
      build_finished_at: null,
      build_duration: null,
      build_allow_failure: false,
      build_failure_reason: 'unknown_failure',
      pipeline_id: number,
      project_id: project.id,
      project_name: text,
      project: currentProject,
      user: { id: 1, name: text, email: '' },
      commit: {
        id: number,
        sha: oid,
        message: 'first\n',
        author_name: 'Test Author',
        author_email: 'author@example.com',
        author_url: 'mailto:author@example.com',
        status: 'running',
        duration: null,
        started_at: time,
        finished_at: null,
      },
      repository: longRepositoryBlock,
      runner: null,
      environment: null,
    })
    const ended = await receiver.request(({ json }) => json.build_status === 'success')
    expect(ended.json.commit).toMatchObject({ status: 'success', duration: number, finished_at: time })
  })

  test('a job that began more than a lifetime ago, as an import may say, has the longest duration', async ({
    world,
  }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}/statuses/${await tipOf(world, project)}`
    const { pipeline_id } = (await world.root.post(at, { state: 'running', name: 'old' })).json
    await storeStatuses(world, pipeline_id, { started_at: '1900-01-01T00:00:00Z' })
    expect((await world.root.post(at, { state: 'success', name: 'old' })).status).toBe(201)
    const job = await receiver.request(({ json }) => json.build_status === 'success')
    expect(job.json.build_duration).toBe(2147483647)
  })

  test('a hook of merge requests names the pipeline of the source branch, not of another branch with its head', async ({
    world,
  }) => {
    await using made = await hooked(world, { merge_requests_events: true })
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}`
    const sha = (await world.root.get(`${at}/repository/branches/topic`)).json.commit.id
    await world.root.post(`${at}/repository/branches`, { branch: 'other', ref: 'topic' })
    for (const ref of ['topic', 'other']) await world.root.post(`${at}/statuses/${sha}`, { state: 'running', ref })
    const branches = { source_branch: 'topic', target_branch: 'main' }
    const { json } = await world.root.post(`${at}/merge_requests`, { ...branches, title: 'Merge topic' })
    expect(json.head_pipeline.ref).toBe('topic')
    const opened = await receiver.request(({ json }) => json.object_kind === 'merge_request')
    expect(opened.json.object_attributes.head_pipeline_id).toBe(json.head_pipeline.id)
  })

  test('a pipeline of the source branch of an open merge request shows it, also from a fork', async ({ world }) => {
    await using made = await hooked(world, {})
    const { receiver, project } = made
    await withContent(world, project)
    const forker = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: forker.id, access_level: 30 })
    const { status, json: fork } = await forker.post(`/projects/${project.id}/fork`)
    expect(status).toBe(201)
    const imported = async () => (await forker.get(`/projects/${fork.id}/import`)).json.import_status
    await expect.poll(imported).toBe('finished')
    const hook = { url: receiver.url, pipeline_events: true, push_events: false }
    expect((await forker.post(`/projects/${fork.id}/hooks`, hook)).status).toBe(201)
    const { json: mr } = await forker.post(`/projects/${fork.id}/merge_requests`, {
      title: 'Merge topic',
      source_branch: 'topic',
      target_branch: 'main',
      target_project_id: project.id,
    })
    await forker.post(`/projects/${fork.id}/statuses/${mr.sha}`, { state: 'failed', ref: 'topic' })
    const { json } = await receiver.request(({ json }) => json.object_kind === 'pipeline')
    expect(json).toMatchObject({ project: { id: fork.id }, object_attributes: { ref: 'topic', status: 'failed' } })
    expect(json.merge_request).toEqual({
      id: mr.id,
      iid: mr.iid,
      title: 'Merge topic',
      source_branch: 'topic',
      source_project_id: fork.id,
      target_branch: 'main',
      target_project_id: project.id,
      state: 'opened',
      merge_status: text,
      url: mr.web_url,
    })
  })

  test('releases have all keys, also when they are deleted', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}/releases`
    const links = [
      { name: 'Manual', url: 'https://example.com/manual' },
      { name: 'Package', url: 'https://example.com/package', link_type: 'package' },
    ]
    await world.root.post(at, { tag_name: 'v1', ref: 'main', name: 'One', description: 'First', assets: { links } })
    const created = (await receiver.request(({ json }) => json.action === 'create')).json
    const release = {
      object_kind: 'release',
      id: number,
      created_at: time,
      description: 'First',
      name: 'One',
      released_at: time,
      tag: 'v1',
      project: projectBlock,
      url: text,
      action: 'create',
      assets: {
        count: 6,
        links: [
          { id: number, external: true, link_type: 'other', ...links[0] },
          { id: number, external: true, ...links[1] },
        ],
        sources: expect.any(Array),
      },
      commit: commitBlock,
    }
    expect(created).toEqual(release)
    await world.root.delete(`${at}/v1`)
    const deleted = (await receiver.request(({ json }) => json.action === 'delete')).json
    expect(deleted).toEqual({ ...release, action: 'delete' })
  })

  test('hooks learn of releases that are created, changed and deleted with their tags', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const tags = `/projects/${project.id}/repository/tags`
    const seen = (action: string, tag: string) =>
      receiver.request(({ json }) => json.object_kind === 'release' && json.action === action && json.tag === tag)
    await world.root.post(tags, { tag_name: 'v1', ref: 'main', release_description: 'First' })
    expect((await seen('create', 'v1')).json.description).toBe('First')
    await world.root.put(`${tags}/v1/release`, { description: 'Second' })
    expect((await seen('update', 'v1')).json.description).toBe('Second')
    await world.root.post(tags, { tag_name: 'v2', ref: 'main' })
    await world.root.post(`${tags}/v2/release`, { description: 'Other' })
    expect((await seen('create', 'v2')).json.description).toBe('Other')
    await world.root.delete(`${tags}/v1`)
    expect((await seen('delete', 'v1')).json).toMatchObject({ description: 'Second', commit: null })
  })

  test('hooks learn that a release of a tag that git deleted gives way to a new one', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}`
    const seen = (action: string, description: string) =>
      receiver.request(({ json }) => json.action === action && json.description === description)
    const create = {
      releases: (text: string) => world.root.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', description: text }),
      tags: (text: string) =>
        world.root.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main', release_description: text }),
    }
    await create.releases('First')
    for (const [by, before, now] of [
      ['releases', 'First', 'Second'],
      ['tags', 'Second', 'Third'],
    ] as const) {
      await using work = await temporaryFolder()
      await git(work.path, 'init', '-q')
      await git(work.path, 'push', '-q', world.remote(project, world.root), ':refs/tags/v1')
      expect((await create[by](now)).status).toBe(201)
      await seen('create', now)
      expect((await seen('delete', before)).json.tag).toBe('v1')
    }
  })
})
