import { createMessage, generateKey, reformatKey, sign } from 'openpgp'
import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { follow, linksTo } from '../../accounts/users/testing.ts'
import { storedProject } from '../commits/testing.ts'
import { begin, changedCommit, commitSignedBy, hasGpg, Keyring, runDue, signature, signedCommit } from './testing.ts'

describe.skipIf(!hasGpg)('OpenPGP signatures (skipped without gpg)', () => {
  test('an OpenPGP signature is verified when the key belongs to the committer', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email.toUpperCase()}>`)
    const made = (await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })).json
    const oid = signedCommit(project, ring, { key, email })
    const verified = {
      signature_type: 'PGP',
      verification_status: 'verified',
      gpg_key_id: made.id,
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_user_name: 'Ann',
      gpg_key_user_email: email.toUpperCase(),
      gpg_key_subkey_id: null,
      commit_source: 'gitaly',
    }
    expect(await signature(world.anonymous, project, oid)).toEqual(verified)
    expect(await signature(world.anonymous, project, oid.slice(0, 12) as Oid)).toEqual(verified)
  })

  test('an OpenPGP signature has an unknown key until a user adds it', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`, { algorithm: 'rsa2048' })
    const oid = signedCommit(project, ring, { key, email })
    expect(await signature(ann, project, oid)).toMatchObject({
      verification_status: 'unknown_key',
      gpg_key_id: null,
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_user_name: null,
    })
    const made = (await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })).json
    await runDue(world, ann.id)
    expect(await signature(ann, project, oid)).toMatchObject({ verification_status: 'verified', gpg_key_id: made.id })
  })

  test('OpenPGP signatures are verified in the end when the key is added during verification', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`)
    const block = ring.exportGpg(key)
    const commits = Array.from({ length: 5 }, (_, at) =>
      signedCommit(project, ring, { key, email, seconds: 1_700_000_000 + at }),
    )
    await Promise.all([
      ...commits.map((oid) => signature(ann, project, oid)),
      ann.post('/user/gpg_keys', { key: block }),
    ])
    await runDue(world, ann.id)
    for (const oid of commits) expect((await signature(ann, project, oid)).verification_status).toBe('verified')
  })

  test('an OpenPGP signature by a subkey names the subkey', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`)
    ring.gpg('--quick-add-key', key, 'ed25519', 'sign', 'never')
    const subkey = ring.gpg('--list-keys', '--with-colons', key).match(/^sub:.*\nfpr:+([0-9A-F]+):/m)![1]!
    const oid = signedCommit(project, ring, { key: `${subkey}!`, email })
    expect((await signature(ann, project, oid)).gpg_key_primary_keyid).toBe(subkey.slice(-16))
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })
    await runDue(world, ann.id)
    expect(await signature(ann, project, oid)).toMatchObject({
      verification_status: 'verified',
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_subkey_id: expect.any(Number),
    })
  })

  test('an OpenPGP signature of another user or for another e-mail is reported as such', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const { email: other } = await begin(world)
    const both = ring.gpgKey(`Ann <${email}>`)
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(both) })
    const stranger = ring.gpgKey(`Eve <${unique('eve')}@example.com>`)
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(stranger) })
    const status = async (key: string, committer: string) =>
      (await signature(ann, project, signedCommit(project, ring, { key, email: committer }))).verification_status
    expect(await status(both, email.toUpperCase())).toBe('verified')
    expect(await status(both, other)).toBe('other_user')
    expect(await status(stranger, email)).toBe('unverified_key')
  })

  test('OpenPGP signatures are verified again when the primary e-mail of the user changes', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`)
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })
    await runDue(world, ann.id)
    const oid = signedCommit(project, ring, { key, email })
    const status = async () => (await signature(ann, project, oid)).verification_status
    expect(await status()).toBe('verified')
    const moveTo = async (address: string) => {
      const edited = await world.root.put(`/users/${ann.id}`, { email: address, skip_reconfirmation: true })
      expect(edited.status).toBe(200)
      await runDue(world, ann.id)
    }
    await moveTo(`${unique('other')}@example.com`)
    expect(await status()).toBe('unverified_key')
    await moveTo(email)
    expect(await status()).toBe('verified')
  })

  test('OpenPGP signatures are verified again when a password chosen by mail confirms the e-mail', async ({
    world,
  }) => {
    using ring = new Keyring()
    const { ann, project } = await begin(world)
    const [username, email] = [unique('bob'), `${unique('bob')}@example.com`]
    const made = await world.root.post('/users', { username, email, name: 'Bob', reset_password: true })
    expect(made).toMatchObject({ status: 201, json: { confirmed_at: null } })
    const key = ring.gpgKey(`Bob <${email}>`)
    await world.root.post(`/users/${made.json.id}/gpg_keys`, { key: ring.exportGpg(key) })
    await runDue(world, made.json.id)
    const oid = signedCommit(project, ring, { key, email })
    const status = async () => (await signature(ann, project, oid)).verification_status
    expect(await status()).toBe('unverified_key')
    await follow(world, (await linksTo(world, email)).at(-1)!, { password: 'correct horse battery' })
    await runDue(world, made.json.id)
    expect(await status()).toBe('verified')
  })

  test('an OpenPGP signature for a secondary e-mail is valid while the e-mail is confirmed', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const second = `${unique('second')}@example.com`
    const key = ring.gpgKey(`Ann <${email}>`)
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })
    await runDue(world, ann.id)
    const oid = signedCommit(project, ring, { key, email: second })
    const status = async () => {
      await runDue(world, ann.id)
      return (await signature(ann, project, oid)).verification_status
    }
    const { id } = (await ann.post('/user/emails', { email: second })).json
    expect(await status()).toBe('other_user')
    await follow(world, (await linksTo(world, second)).at(-1)!)
    expect(await status()).toBe('same_user_different_email')
    await ann.delete(`/user/emails/${id}`)
    expect(await status()).toBe('other_user')
    await world.root.post(`/users/${ann.id}/emails`, { email: second, skip_confirmation: true })
    expect(await status()).toBe('same_user_different_email')
  })

  test('an OpenPGP signature stays verified when its key is deleted, not when it is revoked', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`)
    const add = async () => (await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })).json.id
    const first = signedCommit(project, ring, { key, email })
    const removed = await add()
    await signature(ann, project, first)
    await ann.delete(`/user/gpg_keys/${removed}`)
    await runDue(world, ann.id)
    expect(await signature(ann, project, first)).toMatchObject({
      verification_status: 'verified',
      gpg_key_id: null,
      gpg_key_primary_keyid: key.slice(-16),
    })
    const other = signedCommit(project, ring, { key, email, seconds: 1_700_000_000 })
    const revoked = await add()
    expect((await signature(ann, project, other)).verification_status).toBe('verified')
    expect((await ann.post(`/user/gpg_keys/${revoked}/revoke`)).status).toBe(202)
    await runDue(world, ann.id)
    expect(await signature(ann, project, other)).toMatchObject({ verification_status: 'unverified', gpg_key_id: null })
    const unseen = signedCommit(project, ring, { key, email, seconds: 1_700_000_001 })
    expect((await signature(ann, project, unseen)).verification_status).toBe('unknown_key')
  })

  test('an OpenPGP signature of a changed or twice signed commit is unverified', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const key = ring.gpgKey(`Ann <${email}>`)
    await ann.post('/user/gpg_keys', { key: ring.exportGpg(key) })
    const good = signedCommit(project, ring, { key, email })
    const status = async (oid: Oid) => (await signature(ann, project, oid)).verification_status
    const header = (text: string) => /gpgsig (?:.*\n )*.*\n/.exec(text)![0]
    const changes: ((text: string) => string)[] = [
      (text) => text.replace('by ', 'by no one but '),
      (text) => text.replace(/(committer .*) \d+ /, '$1 1 '),
      (text) => text.replace(header(text), header(text).repeat(2)),
      (text) => text.replace(header(text), header(text) + header(text).replace('gpgsig', '')),
      (text) => text.replace(/( \n )[A-Za-z0-9+/]{20}/, '$1AAAAAAAAAAAAAAAAAAAA'),
      (text) => text.replace(header(text), 'gpgsig -----BEGIN PGP SIGNATURE-----\n'),
    ]
    for (const change of changes)
      expect(await status(changedCommit(project, good, change)), String(change)).toBe('unverified')
    expect(await status(good)).toBe('verified')
  })

  test('an OpenPGP signature is verified if its key had not expired at the time', async ({ world }) => {
    const { ann, email, project } = await begin(world)
    const born = new Date('2020-01-01T00:00:00Z')
    const userIDs = { name: 'Ann', email }
    const { privateKey } = await generateKey({ userIDs, date: born, format: 'object' })
    const { publicKey } = await reformatKey({ privateKey, userIDs, date: born, keyExpirationTime: 60 })
    expect((await ann.post('/user/gpg_keys', { key: publicKey })).status).toBe(201)
    const plain = project.repository.commit({ 'a.txt': 'a' })
    const payload = changedCommit(project, plain, (text) => text.replace('cid@example.com', email))
    const signedAt = (date: Date) =>
      commitSignedBy(project, payload, async (text) =>
        sign({
          message: await createMessage({ binary: Buffer.from(text, 'latin1') }),
          signingKeys: privateKey,
          detached: true,
          date,
        }),
      )
    const status = async (date: Date) => (await signature(ann, project, await signedAt(date))).verification_status
    expect(await status(new Date('2020-01-01T00:00:30Z'))).toBe('verified')
    expect(await status(new Date())).toBe('unverified')
  })

  test('404 for the signature of an unsigned commit', async ({ world }) => {
    const project = await storedProject(world)
    const plain = project.repository.commit({ 'a.txt': 'a' })
    const strange = changedCommit(project, plain, (text) => text.replace('\n\n', '\ngpgsig nonsense\n\n'))
    const at = `/projects/${project.id}/repository/commits`
    for (const oid of [plain, strange, 'main'])
      expect(await world.root.get(`${at}/${oid}/signature`)).toMatchObject({
        status: 404,
        json: { message: '404 GPG Signature Not Found' },
      })
    expect((await world.root.get(`${at}/none/signature`)).json).toEqual({ message: '404 Commit Not Found' })
    const x509 = changedCommit(project, plain, (text) =>
      text.replace('\n\n', '\ngpgsig -----BEGIN SIGNED MESSAGE-----\n AAAA\n -----END SIGNED MESSAGE-----\n\n'),
    )
    expect(await signature(world.root, project, x509)).toEqual({
      signature_type: 'X509',
      verification_status: 'unverified',
      commit_source: 'gitaly',
    })
  })
})
