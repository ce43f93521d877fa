import { Branches, ProtectedBranches, ProtectedTags, Tags } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { git, temporaryFolder, test, unique } from '../world.ts'

test('@gitbeaker/rest creates, reads, protects and removes branches and tags', async ({ world }) => {
  await using folder = await temporaryFolder()
  const project = await world.project()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'First')
  await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
  const options = { host: world.origin, token: world.root.token! }
  const branches = new Branches(options)
  const name = `feature/${unique('x')}`

  expect(await branches.create(project.id, name, 'main')).toMatchObject({ name, protected: false })
  expect((await branches.all(project.id, { search: '^feature' })).map((each) => each.name)).toEqual([name])
  expect(await branches.show(project.id, name)).toMatchObject({ commit: { title: 'First' } })

  const rules = new ProtectedBranches(options)
  const made = await rules.protect(project.id, 'feature/*', {
    pushAccessLevel: 0,
    mergeAccessLevel: 30,
    allowForcePush: true,
  })
  expect(made).toMatchObject({ name: 'feature/*', allow_force_push: true, push_access_levels: [{ access_level: 0 }] })
  expect(await rules.edit(project.id, 'feature/*', { allowForcePush: false })).toMatchObject({
    allow_force_push: false,
  })
  expect((await rules.all(project.id)).map((each) => each.name)).toEqual(['main', 'feature/*'])
  expect(await branches.show(project.id, name)).toMatchObject({ protected: true, developers_can_merge: true })
  await rules.unprotect(project.id, 'feature/*')
  await branches.remove(project.id, name)
  await expect(branches.show(project.id, name)).rejects.toThrow(/Not Found/)
  await branches.removeMerged(project.id)

  const tags = new Tags(options)
  expect(await tags.create(project.id, 'v1.0', 'main', { message: 'One' })).toMatchObject({
    name: 'v1.0',
    message: 'One',
  })
  expect((await tags.all(project.id, { orderBy: 'version', sort: 'desc' })).map((each) => each.name)).toEqual(['v1.0'])
  const tagRules = new ProtectedTags(options)
  await tagRules.protect(project.id, 'v*', { createAccessLevel: 40 })
  expect(await tags.show(project.id, 'v1.0')).toMatchObject({ protected: true, release: null })
  await expect(tags.remove(project.id, 'v1.0')).rejects.toThrow(/Protected tags cannot be deleted/)
  await tagRules.unprotect(project.id, 'v*')
  await tags.remove(project.id, 'v1.0')
  expect(await tags.all(project.id)).toEqual([])
})
