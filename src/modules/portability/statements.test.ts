import { expect } from 'vitest'
import { counting } from '../../../test/counting.ts'
import { test, unique } from '../../../test/world.ts'
import { exportArchive } from './exports/jobs.ts'
import { importArchive } from './imports/jobs.ts'
import { download, freshAdministrator, upload } from './testing.ts'

test('exports and imports need as many statements for forty issues with notes and labels as for two', async ({
  world,
}) => {
  const { id } = await world.project()
  const openUntil = async (first: number, last: number) => {
    for (let n = first; n <= last; n++) {
      const { iid } = (await world.root.post(`/projects/${id}/issues`, { title: `Issue ${n}`, labels: 'bug' })).json
      await world.root.post(`/projects/${id}/issues/${iid}/notes`, { body: `Note ${n}` })
    }
  }
  const statements = async (issues: number) => {
    const who = await freshAdministrator(world)
    await who.post(`/projects/${id}/export`)
    const exporting = await counting(world)
    for (const { payload } of await world.takeJobs('export_archive:%')) await exportArchive.run(payload, exporting.ctx)
    const { body } = await download(world, who, `/projects/${id}/export/download`)
    const made = (await upload(who, body, { path: unique('imported') })).json
    const importing = await counting(world)
    for (const { payload } of await world.takeJobs(`import_archive:${made.id}`))
      await importArchive.run(payload, importing.ctx)
    expect((await who.get(`/projects/${made.id}/import`)).json.import_status).toBe('finished')
    expect((await who.get(`/projects/${made.id}/issues?per_page=1`)).headers['x-total']).toBe(String(issues))
    return [exporting.counts.statements, importing.counts.statements]
  }
  await openUntil(1, 2)
  const few = await statements(2)
  await openUntil(3, 40)
  expect(few.every((count) => count > 10)).toBe(true)
  expect(await statements(40)).toEqual(few)
})
