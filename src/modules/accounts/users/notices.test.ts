import { expect } from 'vitest'
import { countHits } from '../../../../test/tables/users.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { newGpgKey } from '../gpg-keys/testing.ts'
import { newPublicKey } from '../ssh-keys/testing.ts'
import { withTwoFactor } from '../two-factor/testing.ts'
import { follow, linksTo } from './testing.ts'

const subjectsTo = async (world: World, address: string) =>
  (await mailsTo(world, address)).map(({ subject }) => subject.replace(/ \(127\.0\.0\.1\)$/, ''))

const sshKey = 'An SSH key was added to your account'

test('what changes in the security of an account is mailed to its owner', async ({ world }) => {
  const ann = await world.user()
  const address = `${ann.username}@example.com`
  const subjects = () => subjectsTo(world, address)
  await ann.post('/user/keys', { title: 'laptop', key: newPublicKey() })
  await ann.post('/user/gpg_keys', { key: await newGpgKey(address) })
  await world.root.post(`/users/${ann.id}/personal_access_tokens`, { name: 'robot', scopes: ['api'] })
  await withTwoFactor(world, ann)
  await world.root.put(`/users/${ann.id}/disable_two_factor`)
  const further = `${unique('further')}@example.com`
  await ann.post('/user/emails', { email: further })
  await world.root.put(`/users/${ann.id}`, { password: 'correct horse battery' })
  expect(await subjects()).toEqual([
    sshKey,
    'A GPG key was added to your account',
    'An access token of your account was created',
    'The second factor of your account was disabled',
    'An email address was added to your account',
    'Your password was changed',
  ])
  const [key, , , , email] = await mailsTo(world, address)
  expect(key!.body).toMatch(
    new RegExp(
      `\n\nAn SSH key was added to your account @${ann.username}:\n\nlaptop\n\nSHA256:\\S{43}\n\nIf this was not you, `,
    ),
  )
  expect(email!.body).toContain(`\n\n${further}\n\n`)
})

test('a new email address is mailed to the one that the account had, once it is in force', async ({ world }) => {
  const changed = 'Your email address was changed'
  for (const skip_reconfirmation of [true, false]) {
    const ann = await world.user()
    const [old, next] = [`${ann.username}@example.com`, `${unique('next')}@example.com`]
    await world.root.put(`/users/${ann.id}`, { email: next, skip_reconfirmation })
    if (!skip_reconfirmation) {
      expect(await subjectsTo(world, old)).toEqual([])
      const [link] = await linksTo(world, next)
      expect((await follow(world, link!)).status).toBe(200)
    }
    expect(await subjectsTo(world, old)).toEqual([changed])
    expect(await subjectsTo(world, next)).not.toContain(changed)
  }
})

test('bots and blocked users get no notices, and others at most twenty an hour', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const addKey = (id: number) => world.root.post(`/users/${id}/keys`, { title: 'a', key: newPublicKey() })
  await world.root.post(`/users/${bob.id}/block`)
  await addKey(bob.id)
  expect(await subjectsTo(world, `${bob.username}@example.com`)).toEqual([])
  await countHits(world, `account_notices:${ann.id}`, 19)
  for (let key = 1; key <= 2; key++) expect((await addKey(ann.id)).status).toBe(201)
  expect(await subjectsTo(world, `${ann.username}@example.com`)).toEqual([sshKey])
})

test('names of keys cannot add lines to a notice', async ({ world }) => {
  const ann = await world.user()
  await ann.post('/user/keys', { title: 'a\n\nSent by x', key: newPublicKey() })
  const [mail] = await mailsTo(world, `${ann.username}@example.com`)
  expect(mail!.body).not.toContain('\nSent by x')
})
