import { describe, expect, test } from 'vitest'
import { World } from '../../../../test/world.ts'
import { endOldEvents } from './jobs.ts'

/** The ages in days of the remaining events and audit events of a project that were given these ages. */
async function aged(world: World, ages: readonly number[]): Promise<{ left: (table: string) => Promise<number[]> }> {
  await world.rows(
    `insert into events (kind, project_id, payload, created_at)
      select 'project_archived', 1000000, '{}', now() - make_interval(days => age) from unnest($1::integer[]) as age`,
    [ages],
  )
  await world.rows(
    `insert into audit_events (event, author_name, entity_type, entity_id, entity_path, verb, noun, target_type, facts, created_at)
      select 'project_archived', '', 'Project', 1000000, '', 'change', 'archived', 'Project', '{}', now() - make_interval(days => age)
      from unnest($1::integer[]) as age`,
    [ages],
  )
  const left = async (table: string) => {
    const column = table === 'events' ? 'project_id' : 'entity_id'
    const rows = await world.rows(
      `select extract(day from now() - created_at)::integer as age from ${table} where ${column} = 1000000 order by 1`,
    )
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
    await expect(world.rows('delete from audit_events')).rejects.toThrow('kept as they were written')
  })

  test('deleting a group deletes the events of its projects, not those of the deletion', async () => {
    await using world = await World.start()
    const [group, other] = [await world.group(), await world.group()]
    const [project, untouched] = [await world.project({ group }), await world.project({ group: other })]
    await world.root.post(`/projects/${project.id}/archive`)
    await world.root.delete(`/groups/${group.id}`)
    await world.rows(`update namespaces set marked_for_deletion_on = current_date - 100 where id = $1`, [group.id])
    await world.runJobs()
    await world.root.delete(`/groups/${group.id}`)
    const kinds = (column: string, id: number) =>
      world.rows(`select kind from events where ${column} = $1 order by id`, [id])
    await world.rows(`select graphile_worker.add_job('remove_marked_groups', '{}')`)
    await expect.poll(() => kinds('group_id', group.id)).toEqual([{ kind: 'group_deleted' }])
    expect(await kinds('project_id', project.id)).toEqual([])
    expect(await kinds('project_id', untouched.id)).toEqual([{ kind: 'project_created' }])
  })
})
