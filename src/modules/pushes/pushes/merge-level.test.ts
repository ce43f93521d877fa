import { describe, expect } from 'vitest'
import { locate } from '../../../../test/contexts.ts'
import { test } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { actorOf } from '../../accounts/tokens/authenticate.ts'
import { findAccount } from '../../accounts/tokens/queries.ts'
import { openRepository } from '../../projects/repositories/open.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { moveRefs } from './move-refs.ts'

const refused = 'You are not allowed to merge code into protected branches on this project.'

describe('merging into a protected branch', () => {
  test.for([
    { level: 'developer', push: 40, merge: 30, outcome: 'moved', sentence: 'merge access needs no push access' },
    { level: 'developer', push: 30, merge: 40, outcome: 'moved', sentence: 'push access includes merge access' },
    { level: 'developer', push: 40, merge: 40, outcome: refused, sentence: 'refused without access' },
    { level: 'developer', push: 0, merge: 0, outcome: refused, sentence: 'refused when no one has access' },
    { level: 'maintainer', push: 0, merge: 40, outcome: 'moved', sentence: 'a maintainer has access' },
    {
      level: 'maintainer',
      push: 0,
      merge: 0,
      outcome: refused,
      sentence: 'refused to maintainers when no one has access',
    },
    {
      level: 'reporter',
      push: 30,
      merge: 30,
      outcome: 'You are not allowed to push code to this project.',
      sentence: 'refused below developer',
    },
  ] as const)('$level, push $push, merge $merge: $sentence', async ({ level, push, merge, outcome }, { world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { visibility: 'private', members: [[ann, level]] })
    const from = repository.commit({ a: '1' })
    const to = repository.commit({ a: '2' }, { branch: 'topic', parents: [from] })
    await world.root.post(`/projects/${id}/protected_branches`, {
      name: 'main',
      push_access_level: push,
      merge_access_level: merge,
    })
    const ctx = await world.app.open(actorOf((await findAccount(world.db, String(ann.id)))!))
    const repo = openRepository(ctx, await locate(world, id))
    const moving = moveRefs(ctx, id, repo, [{ name: branchRef('main')!, from, to }], { merges: true })
    if (outcome === 'moved') expect(await moving).toBe('moved')
    else await expect(moving).rejects.toMatchObject({ kind: 'forbidden', message: `Forbidden - ${outcome}` })
    expect(repository.git('rev-parse', 'main')).toBe(outcome === 'moved' ? to : from)
    // The same change as a push is decided differently.
    if (outcome === 'moved' && push > levels[level])
      await expect(moveRefs(ctx, id, repo, [{ name: branchRef('main')!, from: to, to: from }])).rejects.toMatchObject({
        kind: 'forbidden',
      })
  })
})
