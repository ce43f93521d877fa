import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { forgeUser, smallForge } from '../../../../test/forge/data.ts'
import { forgeToken } from '../../../../test/forge/fake-forge.ts'
import { forgeImports } from '../../../../test/tables/portability.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { endInFailure } from '../../lifecycle/index.ts'
import { removeForgeLeftovers } from './jobs.ts'
import { PageFiles, projectsWithPages } from './pages.ts'
import { tokenPurpose } from './purpose.ts'
import { resealForgeTokens } from './reseal-queries.ts'
import { forgeOf, importOf, request, runOnce } from './testing.ts'

const lastMail = async (world: World, who: Client): Promise<string> =>
  (await mailsTo(world, `${who.username}@example.com`)).at(-1)!.body

/** The small forge with users of this installation: one is found by address, one by name. */
function knownIn(byAddress: Client, byName: Client) {
  const data = smallForge()
  const users = [forgeUser(1, 'someone-else', `${byAddress.username}@example.com`), forgeUser(2, byName.username)]
  const text = JSON.stringify(data, (_key, value) =>
    value !== null && typeof value === 'object' && 'login' in value ? users[value.id - 1] : value,
  )
  return JSON.parse(text) as typeof data
}

describe.each(['github', 'gitea'] as const)('people of %s', (name) => {
  test('an administrator imports for users with the same address or name, and no one becomes a member', async ({
    world,
  }) => {
    const [ann, ben, admin] = [await world.user(), await world.user(), await world.user({ admin: true })]
    await using forge = await forgeOf(world, name, knownIn(ann, ben))
    const { at } = await importOf(world, admin, forge)
    const [one, two] = [(await admin.get(`${at}/issues/1`)).json, (await admin.get(`${at}/issues/2`)).json]
    expect([one.author.id, two.author.id]).toEqual([ann.id, ben.id])
    expect(one).toMatchObject({ description: 'Everywhere', assignees: [{ id: ben.id }] })
    const notes = (await admin.get(`${at}/issues/1/notes?sort=asc`)).json
    expect(notes).toMatchObject([
      { body: 'Where?', author: { id: ben.id } },
      { body: 'There', author: { id: ann.id } },
    ])
    expect((await admin.get(`${at}/merge_requests/3/approvals`)).json.approved_by).toMatchObject([
      { user: { id: ben.id } },
    ])
    expect((await admin.get(`${at}/members/all`)).json.map(({ id }: { id: number }) => id)).toEqual([admin.id])
    for (const who of [ann, ben]) expect((await who.get('/todos')).json).toEqual([])
  })

  test('for other importers only they themselves are known', async ({ world }) => {
    const [ann, ben] = [await world.user(), await world.user()]
    await using forge = await forgeOf(world, name, knownIn(ann, ben))
    const { at } = await importOf(world, ben, forge)
    const issues = (await ben.get(`${at}/issues`)).json
    for (const { author } of issues) expect(author.id).toBe(ben.id)
    expect((await ben.get(`${at}/issues/1`)).json.description).toMatch(/^\*Created by: .+\*\n\nEverywhere$/)
    expect((await ben.get(`${at}/issues/2`)).json.description).toBeNull()
  })
})

test('an administrator imports from a forge whose user names are longer than names of files', async ({ world }) => {
  const data = smallForge()
  const long = forgeUser(1, '\u00e4'.repeat(250))
  const text = JSON.stringify(data, (_key, value) =>
    value !== null && typeof value === 'object' && 'login' in value && value.id === 1 ? long : value,
  )
  await using forge = await forgeOf(world, 'github', JSON.parse(text))
  const admin = await world.user({ admin: true })
  expect((await importOf(world, admin, forge)).state).toMatchObject({ import_status: 'finished' })
})

describe('the token and the report of an import', () => {
  test('the token is encrypted, follows the key, is never shown, and is gone at the end', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const zoe = await world.user()
    const made = await request(zoe, forge)
    const ctx = await contextFor(world, null)
    const [row] = await forgeImports(world, made.json.id)
    expect(row.sealed_token).not.toContain(forgeToken)
    expect(ctx.secrets.open(row.sealed_token, tokenPurpose(made.json.id))).toBe(forgeToken)
    expect(await ctx.transaction((tx) => resealForgeTokens(tx, ctx.secrets))).toBe(0)
    const [job] = await world.jobs(`import_from_forge:${made.json.id}`)
    const shown = [made.text, (await zoe.get(`/projects/${made.json.id}/import`)).text, JSON.stringify(job!.payload)]
    while (await runOnce(world, made.json.id));
    shown.push((await zoe.get(`/projects/${made.json.id}/import`)).text, await lastMail(world, zoe))
    for (const text of shown) expect(text).not.toContain(forgeToken)
    expect(await forgeImports(world, made.json.id)).toEqual([])
    expect(forge.headers.some(({ authorization }) => authorization === `Bearer ${forgeToken}`)).toBe(true)
  })

  test('the importer gets the counts and what was left out by mail', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const zoe = await world.user()
    await importOf(world, zoe, forge)
    const mail = await lastMail(world, zoe)
    for (const line of [
      'ann/code was imported from Gitea',
      'issue: 2 imported, 2 read',
      'release: v2.0: it is a draft',
    ])
      expect(mail).toContain(line)
  })

  test('only maintainers see what was left out', async ({ world }) => {
    await using forge = await forgeOf(world, 'gitea')
    const [zoe, ben] = [await world.user(), await world.user()]
    const { at } = await importOf(world, zoe, forge)
    await zoe.post(`${at}/members`, { user_id: ben.id, access_level: 30 })
    const { json } = await ben.get(`${at}/import`)
    expect(json).toMatchObject({ import_type: 'gitea', stats: { imported: { issue: 2 } } })
    expect(json).not.toHaveProperty('failed_relations')
    expect(json).not.toHaveProperty('import_error')
  })

  test('an import that failed without its job leaves neither token nor pages', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const zoe = await world.user()
    const { json } = await request(zoe, forge)
    forge.choose = (path) => (path.includes('/releases') ? { status: 429 } : undefined)
    await runOnce(world, json.id)
    const ctx = await contextFor(world, null)
    await removeForgeLeftovers.run({}, ctx)
    expect(await projectsWithPages(ctx)).toContain(json.id)
    await endInFailure(ctx, json.id, 'Import timed out.')
    await new PageFiles(ctx, 999_999_998).prepare()
    await removeForgeLeftovers.run({}, ctx)
    expect(await forgeImports(world, json.id)).toEqual([])
    for (const id of [json.id, 999_999_998]) expect(await projectsWithPages(ctx)).not.toContain(id)
    expect(await lastMail(world, zoe)).toContain('Import timed out.')
  })

  test('comments are complete when each list is read alone, too', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const zoe = await world.user()
    const { at, state } = await importOf(world, zoe, forge, {
      optional_stages: { single_endpoint_notes_import: true, attachments_import: false },
    })
    expect(state.stats.imported).toMatchObject({ note: 3, diff_note: 3, pull_request_review: 2 })
    expect(forge.asked.some((path) => path.includes('/issues/comments'))).toBe(false)
    expect((await zoe.get(`${at}/merge_requests/3/notes`)).json.length).toBeGreaterThan(3)
  })

  test('stages that do not exist are refused', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const { status, json } = await request(await world.user(), forge, { optional_stages: { attachments_import: true } })
    expect([status, json.message]).toEqual([400, { optional_stages: ['attachments_import is not supported'] }])
    expect(forge.asked).toEqual([])
  })
})
