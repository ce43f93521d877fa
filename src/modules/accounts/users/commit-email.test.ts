import { describe, expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../../test/world.ts'

/** Author and committer of the first commit of a new project of the user, and of another commit. */
async function madeBy(who: Client): Promise<string[]> {
  const wish = { name: unique('made'), initialize_with_readme: true }
  const { id, default_branch: branch } = (await who.post('/projects', wish)).json
  const commits = `/projects/${id}/repository/commits`
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  const made = (await who.post(commits, { branch, commit_message: 'A', actions })).json
  const [, first] = (await who.get(commits)).json
  return [first.author_email, first.committer_email, made.author_email, made.committer_email]
}

const choose = (world: World, who: Client, commit_email: string | null) =>
  world.root.put(`/users/${who.id}`, { commit_email })
const shown = async (who: Client) => (await who.get('/user')).json.commit_email
const four = (email: string) => [email, email, email, email]

describe('commit e-mail', () => {
  test('the commit e-mail is the primary one until the user chooses another confirmed one', async ({ world }) => {
    const ann = await world.user()
    const first = `${ann.username}@example.com`
    expect(await shown(ann)).toBe(first)
    expect(await madeBy(ann)).toEqual(four(first))

    const [further, waiting] = [`${unique('further')}@example.com`, `${unique('waiting')}@example.com`]
    await world.root.post(`/users/${ann.id}/emails`, { email: further, skip_confirmation: true })
    await world.root.post(`/users/${ann.id}/emails`, { email: waiting })
    for (const email of ['root@example.com', waiting, 'private'])
      expect(await choose(world, ann, email)).toMatchObject({
        status: 404,
        json: { message: { commit_email: ['must be an email you have verified'] } },
      })
    expect((await choose(world, ann, further)).json).toMatchObject({ email: first, commit_email: further })
    await expect.poll(() => madeBy(ann)).toEqual(four(further))
    for (const none of [null, '']) {
      await choose(world, ann, further)
      expect((await choose(world, ann, none)).json.commit_email).toBe(first)
    }
  })

  test('the commit e-mail is the primary one again when the chosen one was removed', async ({ world }) => {
    const ann = await world.user()
    const email = `${unique('further')}@example.com`
    const { id } = (await world.root.post(`/users/${ann.id}/emails`, { email, skip_confirmation: true })).json
    await choose(world, ann, email)
    await madeBy(ann)
    expect((await ann.delete(`/user/emails/${id}`)).status).toBe(204)
    expect(await shown(ann)).toBe(`${ann.username}@example.com`)
    expect(await madeBy(ann)).toEqual(four(`${ann.username}@example.com`))

    await choose(world, ann, `${ann.username}@example.com`)
    const next = `${unique('next')}@example.com`
    await world.root.put(`/users/${ann.id}`, { email: next, skip_reconfirmation: true })
    expect(await shown(ann)).toBe(next)
  })

  test('the commit e-mail _private is a no-reply address with the username', async ({ world }) => {
    const ann = await world.user()
    await choose(world, ann, '_private')
    const usual = `${ann.id}-${ann.username}@users.noreply.127.0.0.1`
    expect(await shown(ann)).toBe(usual)
    await expect.poll(() => madeBy(ann)).toEqual(four(usual))
    await world.settings({ commit_email_hostname: 'hidden.example' })
    expect(await madeBy(ann)).toEqual(four(`${ann.id}-${ann.username}@hidden.example`))
    await world.settings({ commit_email_hostname: '' })
    expect(await shown(ann)).toBe(usual)
  })
})
