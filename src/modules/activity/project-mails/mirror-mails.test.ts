import { expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { update } from '../../lifecycle/pull-mirrors/testing.ts'
import { mirrorTo } from '../../lifecycle/push-mirrors/testing.ts'
import { done, sourceOf } from '../../lifecycle/remotes/testing.ts'
import { mailMirrorJob } from './mirror-jobs.ts'

const url = 'http://no-such-host.invalid/x.git'
const error = 'Could not resolve host: no-such-host.invalid'

async function inbox(world: World, who: Client) {
  const ctx = await world.app.open(null)
  for (const { payload } of await world.takeJobs('mail_stopped_mirror:%'))
    for (let run = 1; run <= 2; run++) await mailMirrorJob.run(payload, ctx)
  return (await mailsTo(world, `${who.username}@example.com`)).filter(({ subject }) => subject.includes('stopped'))
}

/** A maintainer, one who turned off mails, and a developer of the project. */
async function members(world: World, { id }: { readonly id: number }) {
  const [maintainer, quiet, developer] = [await world.user(), await world.user(), await world.user()]
  for (const [who, access_level] of [
    [maintainer, 40],
    [quiet, 40],
    [developer, 30],
  ] as const)
    await done(world.root.post(`/projects/${id}/members`, { user_id: who.id, access_level }))
  await quiet.put(`/projects/${id}/notification_settings`, { level: 'disabled' })
  return { maintainer, others: [quiet, developer] }
}

test('a push mirror that stops is mailed to the maintainers of the project', async ({ world }) => {
  const project = await sourceOf(world)
  const { maintainer, others } = await members(world, project)
  const mirror = await mirrorTo(world, project, url)
  for (let attempt = 1; attempt <= 13; attempt++) await mirror.update()
  expect(await inbox(world, maintainer)).toEqual([])
  await mirror.update()
  const [mail, ...more] = await inbox(world, maintainer)
  expect(more).toEqual([])
  expect(mail!.subject).toContain(`The push mirror of ${project.full_path} stopped`)
  expect(mail!.body).toContain('\n\nA push mirror stopped, because 14 updates in a row failed:\n\n')
  expect(mail!.body).toContain(`\n\nTo ${url}: ${error}\n\n`)
  for (const who of others) expect(await inbox(world, who)).toEqual([])
})

test('a pull mirror that stops is mailed to the maintainers of the project', async ({ world }) => {
  const project = await done(world.root.post('/projects', { path: unique('mirror') }))
  const { maintainer, others } = await members(world, project)
  await done(world.root.put(`/projects/${project.id}`, { mirror: true, import_url: url }))
  for (let attempt = 1; attempt <= 14; attempt++) await update(world, project)
  expect((await inbox(world, maintainer)).map(({ body }) => body)).toEqual([
    expect.stringContaining(`\n\nFrom ${url}: ${error}\n\n`),
  ])
  for (const who of others) expect(await inbox(world, who)).toEqual([])
})
