import { Gitlab } from '@gitbeaker/rest'
import { describe, expect } from 'vitest'
import { test, unique } from '../world.ts'

describe('basic calls of @gitbeaker/rest', () => {
  test('@gitbeaker/rest creates, lists and deletes groups, projects and members', async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const api = new Gitlab({ host: world.origin, token: ann.token! })

    expect(await api.Users.showCurrentUser()).toMatchObject({ id: ann.id, username: ann.username })
    expect(await api.Users.all({ username: bob.username })).toMatchObject([{ id: bob.id }])
    expect(await api.Metadata.show()).toMatchObject({ version: '13.12.0-ee' })

    const path = unique('beaker')
    const group = await api.Groups.create(path, path, { description: 'Made by a client', visibility: 'private' })
    const sub = await api.Groups.create('Sub', 'sub', { parentId: group.id })
    expect(sub).toMatchObject({ full_path: `${path}/sub`, parent_id: group.id })
    expect(await api.Groups.allSubgroups(group.id)).toMatchObject([{ id: sub.id }])
    expect(await api.Groups.edit(group.id, { description: 'Edited' })).toMatchObject({ description: 'Edited' })

    const project = await api.Projects.create({ name: 'Hello World', namespaceId: sub.id, topics: ['b', 'a'] })
    expect(project).toMatchObject({ path_with_namespace: `${path}/sub/hello-world`, topics: ['a', 'b'] })
    expect(await api.Projects.show(`${path}/sub/hello-world`)).toMatchObject({ id: project.id })
    expect(await api.Projects.edit(project.id, { description: 'Edited', wikiAccessLevel: 'disabled' })).toMatchObject({
      description: 'Edited',
      wiki_access_level: 'disabled',
    })

    expect(await api.ProjectMembers.add(project.id, 20, { userId: bob.id })).toMatchObject({ access_level: 20 })
    expect(await api.ProjectMembers.edit(project.id, bob.id, 30, { expiresAt: '2099-12-31' })).toMatchObject({
      access_level: 30,
      expires_at: '2099-12-31',
    })
    const beside = new Gitlab({ host: world.origin, token: bob.token! })
    expect(await beside.Projects.show(project.id)).toMatchObject({ id: project.id })
    await expect(beside.Projects.edit(project.id, { description: 'no' })).rejects.toMatchObject({
      message: expect.stringContaining('403 Forbidden'),
    })
    expect(await api.GroupMembers.add(group.id, 10, { userId: bob.id })).toMatchObject({ id: bob.id })
    const everyone = await api.ProjectMembers.all(project.id, { includeInherited: true })
    expect(everyone.map(({ id, access_level }) => [id, access_level])).toEqual([
      [ann.id, 40],
      [bob.id, 30],
    ])
    await api.GroupMembers.remove(group.id, bob.id)
    await expect(beside.Projects.show(project.id)).rejects.toMatchObject({
      message: expect.stringContaining('404 Project Not Found'),
    })

    const more = await Promise.all(
      ['one', 'two', 'three', 'four'].map((name) => api.Projects.create({ name, namespaceId: group.id })),
    )
    const ids = [project, ...more].map(({ id }) => id).sort((a, b) => a - b)
    const offset = await api.Projects.all({ membership: true, perPage: 2, orderBy: 'id', sort: 'asc' })
    expect(offset.map(({ id }) => id)).toEqual(ids)
    const keyset = await api.Projects.all({
      membership: true,
      perPage: 2,
      pagination: 'keyset',
      orderBy: 'id',
      sort: 'asc',
    })
    expect(keyset.map(({ id }) => id)).toEqual(ids)
    const counted = await api.Groups.allProjects(group.id, { perPage: 3, page: 1, showExpanded: true })
    expect(counted.paginationInfo).toMatchObject({ total: 4, totalPages: 2, current: 1, next: 2, perPage: 3 })

    await api.Projects.remove(more[0]!.id)
    expect(await api.Projects.show(more[0]!.id)).toMatchObject({
      archived: true,
      marked_for_deletion_at: expect.any(String),
    })
    await world.settings({ deletion_adjourned_period: 0 })
    await api.Groups.remove(group.id)
    await expect(api.Groups.show(group.id)).rejects.toMatchObject({
      message: expect.stringContaining('404 Group Not Found'),
    })
    expect(await api.Projects.all({ membership: true })).toEqual([])
  })
})
