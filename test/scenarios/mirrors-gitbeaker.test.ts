import { ProjectRemoteMirrors, Projects } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { test, unique } from '../world.ts'

test('@gitbeaker/rest sets up pull and push mirrors', async ({ world }) => {
  const { id, repository } = await storedProject(world)
  repository.commit({ a: 'a' })
  const options = { host: world.origin, token: world.root.token! }
  const [projects, mirrors] = [new Projects(options), new ProjectRemoteMirrors(options)] as const
  const url = 'https://ann:word@203.0.114.1/a.git'

  const made = await mirrors.createPushMirror(id, url, { enabled: true, keepDivergentRefs: true })
  expect(made).toMatchObject({ enabled: true, keep_divergent_refs: true, only_protected_branches: false })
  expect(made.url).toBe('https://*****:*****@203.0.114.1/a.git')
  await mirrors.sync(id, made.id)
  expect(await mirrors.all(id)).toMatchObject([{ id: made.id, update_status: 'scheduled' }])
  await mirrors.remove(id, made.id)
  await expect(mirrors.show(id, made.id)).rejects.toThrow('Not Found')

  const mirror = await projects.create({ path: unique('mirror'), importUrl: url, mirror: true })
  expect(mirror).toMatchObject({ mirror: true, import_status: 'scheduled' })
  expect(await projects.showPullMirror(mirror.id)).toMatchObject({ update_status: 'none', last_error: null })
  expect(await projects.edit(mirror.id, { mirrorOverwritesDivergedBranches: true })).toMatchObject({
    mirror_overwrites_diverged_branches: true,
  })
})
