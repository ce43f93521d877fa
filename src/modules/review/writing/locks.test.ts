import { expect } from 'vitest'
import { isUnlocked, lockRow } from '../../../../test/tables/instance.ts'
import { test } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

test.for(['note', 'description'] as const)(
  'a %s that sets the milestone locks it before the merge request, as the deletion of the milestone does',
  async (where, { world }) => {
    const { project, id, at } = await openMergeRequest(world)
    const milestone = (await world.root.post(`/projects/${project.id}/milestones`, { title: '1.0' })).json
    const text = 'Text\n/milestone %1.0'
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'milestones', milestone.id, 'no key update')
      const waiting =
        where === 'note' ? world.root.post(`${at}/notes`, { body: text }) : world.root.put(at, { description: text })
      await world.waitsForLock()
      return { waiting, unlocked: await isUnlocked(tx, 'merge_requests', id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
    expect((await world.root.get(at)).json.milestone).toMatchObject({ title: '1.0' })
  },
)
