import { describe, expect } from 'vitest'
import { areNumbersUnlocked, isUnlocked, lockRow } from '../../../test/tables/instance.ts'
import { type Answer, test, type World } from '../../../test/world.ts'
import { openMergeRequest } from '../review/merge-requests/testing.ts'
import { lockTree } from './epics/tree-queries.ts'

/** Two projects of a group; an issue in the first has a milestone of the group, and another issue has another one. */
async function planned(world: World) {
  const group = await world.group()
  const [project, target] = [await world.project({ group }), await world.project({ group })]
  const made = async (path: string, input: object) => (await world.root.post(path, input)).json
  const milestone = await made(`/groups/${group.id}/milestones`, { title: '1.0' })
  const next = await made(`/groups/${group.id}/milestones`, { title: '2.0' })
  const issues = `/projects/${project.id}/issues`
  const issue = await made(issues, { title: 'Issue', milestone_id: milestone.id })
  const other = await made(issues, { title: 'Other', milestone_id: next.id })
  return { world, project, target, milestone, next, issue, other, at: `${issues}/${issue.iid}` }
}

/** An epic of a group with a label, its parent, its child, and one that is free. */
async function inTree(world: World) {
  const group = await world.group()
  const epics = `/groups/${group.id}/epics`
  const made = async (input: object) => (await world.root.post(epics, { title: 'Epic', ...input })).json
  const above = await made({})
  const { id, iid } = await made({ parent_id: above.id })
  const [child, free] = [await made({ parent_id: id }), await made({})]
  await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })
  const others = { child: child.iid as number, free: free.iid as number }
  return { group, id, others, at: `${epics}/${iid}`, notes: `${epics}/${id}/notes` }
}

type Planned = Awaited<ReturnType<typeof planned>>
type Request = (place: Planned) => Promise<Answer>

/** A change of these rows goes on to the issues: it locks them before the issue. */
const requests: Record<string, { first: (place: Planned) => ['projects' | 'milestones', number]; request: Request }> = {
  'an edit of confidential': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at }) => world.root.put(at, { confidential: true }),
  },
  'a note that makes it confidential': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at }) => world.root.post(`${at}/notes`, { body: '/confidential' }),
  },
  'an edit of the state': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at }) => world.root.put(at, { state_event: 'close' }),
  },
  'a note that closes it': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at }) => world.root.post(`${at}/notes`, { body: '/close' }),
  },
  'a note that promotes it to an epic': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at }) => world.root.post(`${at}/notes`, { body: '/promote' }),
  },
  'a move, which locks the project,': {
    first: ({ project }) => ['projects', project.id],
    request: ({ world, at, target }) => world.root.post(`${at}/move`, { to_project_id: target.id }),
  },
  'a clone, which locks the project,': {
    first: ({ target }) => ['projects', target.id],
    request: ({ world, at, target }) => world.root.post(`${at}/clone`, { to_project_id: target.id }),
  },
  'an edit of its milestone': {
    first: ({ next }) => ['milestones', next.id],
    request: ({ world, at, next }) => world.root.put(at, { milestone_id: next.id }),
  },
  'a note that sets its milestone': {
    first: ({ next }) => ['milestones', next.id],
    request: ({ world, at }) => world.root.post(`${at}/notes`, { body: 'Text\n/milestone %"2.0"' }),
  },
  'a description that sets its milestone': {
    first: ({ next }) => ['milestones', next.id],
    request: ({ world, at }) => world.root.put(at, { description: 'Text\n/milestone %"2.0"' }),
  },
  'a note that copies the milestone of another issue': {
    first: ({ next }) => ['milestones', next.id],
    request: ({ world, at, other }) => world.root.post(`${at}/notes`, { body: `Text\n/copy_metadata #${other.iid}` }),
  },
  'a move, which locks the milestone,': {
    first: ({ milestone }) => ['milestones', milestone.id],
    request: ({ world, at, target }) => world.root.post(`${at}/move`, { to_project_id: target.id }),
  },
  'a clone, which locks the milestone,': {
    first: ({ milestone }) => ['milestones', milestone.id],
    request: ({ world, at, target }) => world.root.post(`${at}/clone`, { to_project_id: target.id }),
  },
}

describe('an issue is not locked yet, so that two requests do not wait for each other,', () => {
  test.for(Object.keys(requests))('while %s waits', async (name, { world }) => {
    const place = await planned(world)
    const { first, request } = requests[name]!
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, ...first(place), 'no key update')
      const waiting = request(place)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'issues', place.issue.id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})

describe('quick actions wait only for locks that they need:', () => {
  test.for(['/award :tada:', '/todo', '/subscribe', '/spend 1h', '/title New', '/label ~bug', '/milestone %"2.0"'])(
    '%s of an issue does not wait for a change of the project',
    async (action, { world }) => {
      const { project, at } = await planned(world)
      await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: 'red' })
      const answer = await world.db.transaction(async (tx) => {
        await lockRow(tx, 'projects', project.id, 'no key update')
        return world.root.post(`${at}/notes`, { body: `Text\n${action}` })
      })
      expect(answer).toMatchObject({ status: 201, json: { summary: [expect.not.stringContaining('Could not')] } })
    },
  )

  test.for(['/award :tada:', '/close', '/confidential', '/label ~bug'])(
    '%s of an epic does not wait for a change of the tree',
    async (action, { world }) => {
      const { group, at, notes } = await inTree(world)
      const answers = await world.db.transaction(async (tx) => {
        await lockTree(tx, group.id)
        const note = await world.root.post(notes, { body: `Text\n${action}` })
        return [note, await world.root.put(at, { description: '/award :heart:' })]
      })
      expect(answers).toMatchObject([
        { status: 201, json: { summary: [expect.not.stringContaining('Could not')] } },
        { status: 200 },
      ])
    },
  )

  test.for(['child_epic', 'remove_child_epic', 'parent_epic', 'remove_parent_epic'])(
    '/%s locks the tree before the epic',
    async (name, { world }) => {
      const { group, id, others, notes } = await inTree(world)
      const argument = { child_epic: others.free, remove_child_epic: others.child, parent_epic: others.free }[name]
      const { waiting, unlocked } = await world.db.transaction(async (tx) => {
        await lockTree(tx, group.id)
        const waiting = world.root.post(notes, { body: `Text\n/${name}${argument ? ` &${argument}` : ''}` })
        await world.waitsForLock(1)
        return { waiting, unlocked: await isUnlocked(tx, 'epics', id) }
      })
      expect(await waiting).toMatchObject({
        status: 201,
        json: { summary: [expect.not.stringContaining('Could not')] },
      })
      expect(unlocked).toBe(true)
    },
  )
})

test('an edit of a project that leaves its default branch as it is does not wait for a comment, whose issue it changes', async ({
  world,
}) => {
  const { project } = await openMergeRequest(world, { visibility: 'public' })
  const answer = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id, 'key share')
    return world.root.put(`/projects/${project.id}`, { default_branch: 'main', visibility: 'private' })
  })
  expect(answer).toMatchObject({ status: 200, json: { default_branch: 'main', visibility: 'private' } })
})

/** A move has locked the project when it takes a number. */
describe('a number is not taken yet, so that two requests do not wait for each other,', () => {
  const creations: Record<string, Request> = {
    'the creation of an issue': ({ world, project }) =>
      world.root.post(`/projects/${project.id}/issues`, { title: 'Third' }),
    'the creation of an issue with a number': ({ world, project }) =>
      world.root.post(`/projects/${project.id}/issues`, { title: 'Third', iid: 30 }),
    'a clone': ({ world, project, at }) => world.root.post(`${at}/clone`, { to_project_id: project.id }),
  }

  test.for(Object.keys(creations))('while %s waits for a change of the project', async (name, { world }) => {
    const place = await planned(world)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', place.project.id, 'no key update')
      const waiting = creations[name]!(place)
      await world.waitsForLock(1)
      return { waiting, unlocked: await areNumbersUnlocked(tx, place.project.id) }
    })
    expect((await waiting).status).toBe(201)
    expect(unlocked).toBe(true)
  })

  test('while the creation of a merge request waits for a change of the project', async ({ world }) => {
    const { project, base } = await openMergeRequest(world)
    project.repository.commit({ c: 'c\n' }, { branch: 'another', parents: [base] })
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', project.id, 'no key update')
      const waiting = world.root.post(`/projects/${project.id}/merge_requests`, {
        source_branch: 'another',
        target_branch: 'main',
        title: 'Another',
      })
      await world.waitsForLock(1)
      return { waiting, unlocked: await areNumbersUnlocked(tx, project.id) }
    })
    expect((await waiting).status).toBe(201)
    expect(unlocked).toBe(true)
  })
})

describe('promotions to one group take turns, so that two do not wait for each other:', () => {
  test.for(['labels', 'milestones'] as const)(
    'one of %s does not hold the project while it waits for an edit of it, which locks the group first',
    async (table, { world }) => {
      const group = await world.group()
      const project = await world.project({ group })
      const promoted = `/projects/${project.id}/${table}`
      const { id } = (await world.root.post(promoted, { name: 'Next', title: 'Next', color: 'red' })).json
      const { waiting, unlocked } = await world.db.transaction(async (tx) => {
        await lockRow(tx, 'namespaces', group.id, 'share')
        const waiting = world.root[table === 'labels' ? 'put' : 'post'](`${promoted}/${id}/promote`)
        await world.waitsForLock(1)
        return { waiting, unlocked: await isUnlocked(tx, 'projects', project.id, 'update') }
      })
      expect((await waiting).status).toBeLessThan(300)
      expect(unlocked).toBe(true)
    },
  )

  test.for(['labels', 'milestones'] as const)('one of %s locks the group before them', async (table, { world }) => {
    const group = await world.group()
    const promoted = `/projects/${(await world.project({ group })).id}/${table}`
    const { id } = (await world.root.post(promoted, { name: 'Next', title: 'Next', color: 'red' })).json
    const method = table === 'labels' ? 'put' : 'post'
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, table, id)
      const waiting = world.root[method](`${promoted}/${id}/promote`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'namespaces', group.id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(false)
  })
})

describe('a promotion locks what has the label or milestone before a reference to that would wait:', () => {
  test.for(['labels', 'milestones'] as const)('of %s', async (table, { world }) => {
    const project = await world.project({ group: await world.group() })
    const promoted = `/projects/${project.id}/${table}`
    const { id } = (await world.root.post(promoted, { name: 'Next', title: 'Next', color: 'red' })).json
    const issues = `/projects/${project.id}/issues`
    const has = table === 'labels' ? { labels: 'Next' } : { milestone_id: id }
    const issue = (await world.root.post(issues, { title: 'Issue', ...has })).json
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'issues', issue.id, 'no key update')
      const waiting = world.root[table === 'labels' ? 'put' : 'post'](`${promoted}/${id}/promote`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, table, id, 'key share') }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})

describe('what is deleted is not locked yet, so that it and what is added to it do not wait for each other,', () => {
  test('while the deletion of an issue waits for what is added to it', async ({ world }) => {
    const { issue, at } = await planned(world)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'issues', issue.id, 'key share')
      const waiting = world.root.delete(at)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'issues', issue.id) }
    })
    expect((await waiting).status).toBe(204)
    expect(unlocked).toBe(true)
  })

  test('while the deletion of an epic waits for what is added to it', async ({ world }) => {
    const epics = `/groups/${(await world.group()).id}/epics`
    const { id, iid } = (await world.root.post(epics, { title: 'Epic' })).json
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'epics', id, 'key share')
      const waiting = world.root.delete(`${epics}/${iid}`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'epics', id) }
    })
    expect((await waiting).status).toBe(204)
    expect(unlocked).toBe(true)
  })

  test('while the deletion of an epic waits for a child', async ({ world }) => {
    const epics = `/groups/${(await world.group()).id}/epics`
    const { id, iid } = (await world.root.post(epics, { title: 'Epic' })).json
    const child = (await world.root.post(epics, { title: 'Child', parent_id: id })).json
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'epics', child.id, 'no key update')
      const waiting = world.root.delete(`${epics}/${iid}`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'epics', id) }
    })
    expect((await waiting).status).toBe(204)
    expect(unlocked).toBe(true)
  })

  test('while the withdrawal of an award waits for the issue', async ({ world }) => {
    const { issue, at } = await planned(world)
    const { id } = (await world.root.post(`${at}/award_emoji`, { name: 'thumbsup' })).json
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'issues', issue.id)
      const waiting = world.root.delete(`${at}/award_emoji/${id}`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'award_emoji', id) }
    })
    expect((await waiting).status).toBe(204)
    expect(unlocked).toBe(true)
  })
})
