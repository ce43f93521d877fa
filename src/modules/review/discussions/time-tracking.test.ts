import { describe, expect } from 'vitest'
import { timeLogsOf } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const none = { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null }

async function tracked(world: World) {
  const opened = await openMergeRequest(world)
  const post = (path: string, duration?: string, who: Client = world.root) =>
    who.post(`${opened.at}/${path}`, duration === undefined ? {} : { duration })
  const systemNotes = async (): Promise<string[]> =>
    (await world.root.get(`${opened.at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)
  return { ...opened, post, systemNotes }
}

describe('time tracking of merge requests', () => {
  test('D3-MR-TIME-RECORD: all five endpoints return both times, null in words without any', async ({ world }) => {
    const { post, at } = await tracked(world)
    expect(await world.root.get(`${at}/time_stats`)).toMatchObject({ status: 200, json: none })
    expect((await world.root.get(`${at}/time_stats`)).json).toEqual(none)
    const estimated = { ...none, time_estimate: 12_600, human_time_estimate: '3h 30m' }
    expect(await post('time_estimate', '3h30m')).toMatchObject({ status: 200, json: estimated })
    const both = { ...estimated, total_time_spent: 3600, human_total_time_spent: '1h' }
    expect(await post('add_spent_time', '1h')).toMatchObject({ status: 201, json: both })
    expect((await world.root.get(`${at}/time_stats`)).json).toEqual(both)
    expect((await world.root.get(at)).json.time_stats).toEqual(both)
    const spent = { ...both, time_estimate: 0, human_time_estimate: null }
    expect(await post('reset_time_estimate')).toMatchObject({ status: 200, json: spent })
    expect(await post('reset_spent_time')).toMatchObject({ status: 200, json: none })
    expect((await world.root.get(`${at}/time_stats`)).json).toEqual(none)
  })

  test('D3-MR-ESTIMATE: the estimate is set from words, and reset to 0 seconds', async ({ world }) => {
    const { post, systemNotes } = await tracked(world)
    expect((await post('time_estimate', '1mo 2w 3d 4h 5m')).json).toMatchObject({
      time_estimate: 576_000 + 288_000 + 86_400 + 14_700,
      human_time_estimate: '1mo 2w 3d 4h 5m',
    })
    expect((await post('time_estimate', '2')).json).toMatchObject({ time_estimate: 7200, human_time_estimate: '2h' })
    for (const duration of ['', 'soon', '-1h', '1h later', '2147483648s'])
      expect(await post('time_estimate', duration)).toMatchObject({
        status: 400,
        json: { message: { time_estimate: ['has an invalid format'] } },
      })
    expect(await post('time_estimate')).toMatchObject({ status: 400, json: { error: 'duration is missing' } })
    expect((await post('time_estimate', '2147483647s')).json.time_estimate).toBe(2_147_483_647)
    expect((await post('reset_time_estimate')).json).toEqual(none)
    expect((await post('reset_time_estimate')).json).toEqual(none)
    expect((await systemNotes()).slice(0, 2)).toEqual([
      'changed time estimate to 1mo 2w 3d 4h 5m',
      'changed time estimate to 2h',
    ])
    expect((await systemNotes()).slice(3)).toEqual(['removed time estimate'])
  })

  test('D3-MR-SPENT: spent time adds up, can be subtracted, and is reset to 0', async ({ world }) => {
    const { post, systemNotes, id } = await tracked(world)
    await post('add_spent_time', '1d')
    expect((await post('add_spent_time', '2h')).json).toMatchObject({
      total_time_spent: 36_000,
      human_total_time_spent: '1d 2h',
    })
    expect((await post('add_spent_time', '-1h 30m')).json.total_time_spent).toBe(30_600)
    expect((await post('add_spent_time', '0h')).json.total_time_spent).toBe(30_600)
    expect(await post('add_spent_time', '-2d')).toMatchObject({
      status: 400,
      json: { message: { time_spent: ['Time to subtract exceeds the total time spent'] } },
    })
    for (const duration of ['', 'long'])
      expect(await post('add_spent_time', duration)).toMatchObject({
        status: 400,
        json: { message: { time_spent: ["can't be blank"] } },
      })
    expect(await post('add_spent_time', '2147483647s')).toMatchObject({
      status: 400,
      json: { message: { time_spent: ['is more than can be kept'] } },
    })
    expect(await post('add_spent_time')).toMatchObject({ status: 400, json: { error: 'duration is missing' } })
    for (let times = 0; times < 2; times++) expect((await post('reset_spent_time')).json).toEqual(none)
    const logs = await timeLogsOf(world, id)
    expect(logs.map(({ seconds }) => seconds)).toEqual([28_800, 7200, -5400, -30_600])
    expect(await systemNotes()).toEqual([
      'added 1d of time spent',
      'added 2h of time spent',
      'subtracted 1h 30m of time spent',
      'removed time spent',
    ])
  })

  test('time tracking emits events with the changes', async ({ world }) => {
    const { post, id } = await tracked(world)
    await post('time_estimate', '1h')
    await post('time_estimate', '1h')
    await post('add_spent_time', '2h')
    const events = await eventsOf(
      world,
      { kind: 'merge_request_updated', payload: { merge_request_id: String(id) } },
      'payload',
    )
    expect(events.map(({ payload }) => payload.changes)).toEqual([
      { time_estimate: [0, 3600] },
      { total_time_spent: [0, 7200] },
    ])
  })

  test('concurrent additions of spent time add up', async ({ world }) => {
    const { post, at } = await tracked(world)
    const all = await Promise.all(Array.from({ length: 10 }, () => post('add_spent_time', '1m')))
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect((await world.root.get(`${at}/time_stats`)).json.total_time_spent).toBe(600)
  })
})
