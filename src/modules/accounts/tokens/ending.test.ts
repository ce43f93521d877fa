import { expect } from 'vitest'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { changeToken } from '../../../../test/tables/tokens.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailEndingResourceTokens } from '../../groups/resource-tokens/ending.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { mailEndingTokens } from './ending.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

/** Runs both jobs twice. */
async function run(world: World): Promise<void> {
  const ctx = await world.app.open(null)
  for (let time = 1; time <= 2; time++) {
    await mailEndingTokens.run({}, ctx)
    await mailEndingResourceTokens.run({}, ctx)
  }
}

const inbox = async (world: World, who: Client) =>
  (await mailsTo(world, `${who.username}@example.com`)).filter(({ subject }) => subject.includes('expire soon'))

/** Makes a token that expires this number of days from now, made a month ago. */
async function makeToken(world: World, { id }: Client, name: string, days: number): Promise<number> {
  const token = { name, scopes: ['api'], expires_at: day(days) }
  const made = await world.root.post(`/users/${id}/personal_access_tokens`, token)
  expect(made.status).toBe(201)
  await changeToken(world, made.json.id, { created_at: daysAgo(30) })
  return made.json.id
}

test('personal access tokens that expire within a week are mailed to their user once, together', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  await makeToken(world, ann, 'first', 2)
  await makeToken(world, ann, 'second', 7)
  await makeToken(world, ann, 'later', 9)
  const revoked = await makeToken(world, bob, 'revoked', 3)
  await world.root.delete(`/personal_access_tokens/${revoked}`)
  await world.root.post(`/users/${bob.id}/personal_access_tokens`, {
    name: 'made for a week',
    scopes: ['api'],
    expires_at: day(7),
  })
  await run(world)
  expect(await inbox(world, bob)).toEqual([])
  const mails = await inbox(world, ann)
  expect(mails).toHaveLength(1)
  expect(mails[0]!.body).toContain(`\n\nfirst, until ${day(2)}\nsecond, until ${day(7)}\n\n`)
  await makeToken(world, ann, 'third', 1)
  await run(world)
  expect((await inbox(world, ann)).map(({ body }) => body)).toEqual([
    mails[0]!.body,
    expect.stringContaining(`\n\nthird, until ${day(1)}\n\n`),
  ])
})

test('tokens of projects and groups that expire within a week are mailed to those who manage them', async ({
  world,
}) => {
  const [maintainer, owner, developer] = [await world.user(), await world.user(), await world.user()]
  const group = await world.group({ members: [[owner, 'owner']] })
  const project = await world.project({
    members: [
      [maintainer, 'maintainer'],
      [developer, 'developer'],
    ],
  })
  for (const [place, name] of [
    [`/projects/${project.id}`, 'of project'],
    [`/groups/${group.id}`, 'of group'],
  ]) {
    const token = { name, scopes: ['api'], access_level: 30, expires_at: day(5) }
    const made = await world.root.post(`${place}/access_tokens`, token)
    expect(made.status).toBe(201)
    await changeToken(world, made.json.id, { created_at: daysAgo(30) })
  }
  await run(world)
  expect(await inbox(world, developer)).toEqual([])
  expect((await inbox(world, maintainer)).map(({ body }) => body)).toEqual([
    expect.stringMatching(`\n\nof project, until ${day(5)}\n\n.*\n${world.origin}/${project.full_path}\n`),
  ])
  expect((await inbox(world, owner)).map(({ body }) => body)).toEqual([
    expect.stringContaining(`\n\nof group, until ${day(5)}\n\n`),
  ])
})
