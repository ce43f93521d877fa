import { Gitlab } from '@gitbeaker/rest'
import { describe, expect } from 'vitest'
import { test, unique } from '../world.ts'

describe('users with @gitbeaker/rest', () => {
  test('@gitbeaker/rest creates, edits, blocks and removes users', async ({ world }) => {
    const api = new Gitlab({ host: world.origin, token: world.root.token! })
    const username = unique('beaker')
    const made = await api.Users.create({
      username,
      name: 'Beaker',
      email: `${username}@example.com`,
      password: 'correct horse',
    })
    expect(made).toMatchObject({ username, state: 'active' })
    expect(await api.Users.edit(made.id, { bio: 'Meep', organization: 'Labs' })).toMatchObject({
      bio: 'Meep',
      organization: 'Labs',
    })
    expect(await api.Users.block(made.id)).toBe(true)
    expect(await api.Users.show(made.id)).toMatchObject({ state: 'blocked' })
    expect(await api.Users.unblock(made.id)).toBe(true)
    expect(await api.Users.deactivate(made.id)).toBe(true)
    expect(await api.Users.activate(made.id)).toBe(true)

    const email = await api.UserEmails.add(`further.${username}@example.com`, {
      userId: made.id,
      skipConfirmation: true,
    })
    expect(await api.UserEmails.all({ userId: made.id })).toMatchObject([{ id: email.id, email: email.email }])
    await api.UserEmails.remove(email.id, { userId: made.id })

    const own = new Gitlab({ host: world.origin, token: (await world.as(made)).token! })
    expect(await own.Users.editStatus({ emoji: 'rocket', message: 'Up :rocket:' })).toMatchObject({
      message_html: 'Up 🚀',
    })
    expect(await api.Users.showStatus({ iDOrUsername: made.username })).toMatchObject({ emoji: 'rocket' })
    expect(await api.Users.allActivities()).toEqual(
      expect.arrayContaining([expect.objectContaining({ last_activity_on: expect.any(String) })]),
    )
    await api.Users.remove(made.id)
    expect(await api.Users.show(made.id)).toMatchObject({ state: 'blocked' })
  })
})
