import { describe, expect, test } from 'vitest'
import { queueJob } from '../../../../test/jobs.ts'
import { addOldAuditEvents, addOldEvents, agesOf, deleteAuditEvents, eventsOf } from '../../../../test/tables/events.ts'
import { changeGroup } from '../../../../test/tables/groups.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { World } from '../../../../test/world.ts'
import { endOldEvents } from './jobs.ts'

/** The ages in days of the remaining events and audit events of a project that were given these ages. */
async function aged(world: World, ages: readonly number[]): Promise<{ left: (table: string) => Promise<number[]> }> {
  await addOldEvents(world, ages)
  await addOldAuditEvents(world, ages)
  const left = async (table: string) => {
    const column = table === 'events' ? 'project_id' : 'entity_id'
    const rows = await agesOf(world, table, column)
    return rows.map(({ age }) => age)
  }
  return { left }
}

describe('event retention', () => {
  test('events are deleted after the retention of the settings, audit events only with one', async () => {
    await using world = await World.start()
    const { left } = await aged(world, [1, 10, 29, 31, 400])
    const run = async () => endOldEvents.run({}, await world.app.open(null))
    await run()
    await run()
    expect(await left('events')).toEqual([1, 10, 29])
    expect(await left('audit_events')).toEqual([1, 10, 29, 31, 400])

    await world.settings({ event_retention_days: 5, audit_event_retention_days: 30 })
    await expect
      .poll(async () => {
        await run()
        return [await left('events'), await left('audit_events')]
      })
      .toEqual([[1], [1, 10, 29]])
    await expect(deleteAuditEvents(world)).rejects.toThrow('kept as they were written')
  })

  test('deleting a group deletes the events of its projects, not those of the deletion', async () => {
    await using world = await World.start()
    const [group, other] = [await world.group(), await world.group()]
    const [project, untouched] = [await world.project({ group }), await world.project({ group: other })]
    await world.root.post(`/projects/${project.id}/archive`)
    await world.root.delete(`/groups/${group.id}`)
    await changeGroup(world, group.id, { marked_for_deletion_on: daysAgo(100) })
    await world.runJobs()
    await world.root.delete(`/groups/${group.id}`)
    const kinds = (filter: { group: number } | { project: number }) => eventsOf(world, filter, 'kind')
    await queueJob(world, 'remove_marked_groups')
    await expect.poll(() => kinds({ group: group.id })).toEqual([{ kind: 'group_deleted' }])
    expect(await kinds({ project: project.id })).toEqual([])
    expect(await kinds({ project: untouched.id })).toEqual([{ kind: 'project_created' }, { kind: 'member_added' }])
  })
})
