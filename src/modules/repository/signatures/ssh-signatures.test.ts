import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { storedProject } from '../commits/testing.ts'
import {
  begin,
  changedCommit,
  commitSignedBy,
  hasSshKeygen,
  Keyring,
  runDue,
  signature,
  signedCommit,
} from './testing.ts'

describe.skipIf(!hasSshKeygen)('SSH signatures (skipped without ssh-keygen)', () => {
  test.for([
    ['ed25519', 256],
    ['rsa', 2048],
    ['ecdsa', 256],
    ['ecdsa', 384],
    ['ecdsa', 521],
  ] as const)(
    'an SSH signature is verified when the key belongs to the committer: %s, %i bits',
    async ([type, bits], { world }) => {
      using ring = new Keyring()
      const { ann, email, project } = await begin(world)
      const { path, text } = ring.sshKey(type, bits)
      const made = (await ann.post('/user/keys', { title: 'laptop', key: text })).json
      const oid = signedCommit(project, ring, { key: path, email, format: 'ssh' })
      expect(await signature(world.anonymous, project, oid)).toEqual({
        signature_type: 'SSH',
        verification_status: 'verified',
        key: made,
        commit_source: 'gitaly',
      })
    },
  )

  test("an SSH signature is verified for the no-reply e-mail of the key's owner", async ({ world }) => {
    using ring = new Keyring()
    const [{ ann, project }, bob] = [await begin(world), await world.user()]
    const { path, text } = ring.sshKey('ed25519', 256)
    await ann.post('/user/keys', { title: 'laptop', key: text })
    const status = async ({ id, username }: { id: number; username: string }) => {
      const email = `${id}-${username.toUpperCase()}@users.noreply.127.0.0.1`
      return (await signature(ann, project, signedCommit(project, ring, { key: path, email, format: 'ssh' })))
        .verification_status
    }
    expect(await status(ann)).toBe('verified')
    await world.root.put(`/users/${ann.id}`, { username: unique('renamed') })
    expect(await status(ann)).toBe('verified')
    expect(await status(bob)).not.toBe('verified')
  })

  test('an SSH signature has an unknown key until a user adds it, and outlives its deletion', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const { path, text } = ring.sshKey('ed25519', 256)
    const oid = signedCommit(project, ring, { key: path, email, format: 'ssh' })
    expect(await signature(ann, project, oid)).toMatchObject({ verification_status: 'unknown_key', key: null })
    const { id } = (await ann.post('/user/keys', { title: 'laptop', key: text })).json
    await runDue(world, ann.id)
    expect(await signature(ann, project, oid)).toMatchObject({ verification_status: 'verified', key: { id } })
    await ann.delete(`/user/keys/${id}`)
    await runDue(world, ann.id)
    expect(await signature(ann, project, oid)).toMatchObject({ verification_status: 'verified', key: null })
  })

  test('an SSH signature of another user or by an expired key is not verified', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const { path, text } = ring.sshKey('ed25519', 256)
    await ann.post('/user/keys', { title: 'laptop', key: text, expires_at: '2038-01-01' })
    const status = async (committer: string, date: string) => {
      const oid = signedCommit(project, ring, {
        key: path,
        email: committer,
        format: 'ssh',
        seconds: Date.parse(date) / 1000,
      })
      return (await signature(ann, project, oid)).verification_status
    }
    expect(await status(email, '2037-12-31')).toBe('verified')
    expect(await status(email, '2038-01-02')).toBe('unverified')
    expect(await status(`${unique('eve')}@example.com`, '2037-12-31')).toBe('other_user')
  })

  test('an SSH signature is judged whatever the time of its commit', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email, project } = await begin(world)
    const { path, text } = ring.sshKey('ed25519', 256)
    await ann.post('/user/keys', { title: 'laptop', key: text, expires_at: '2038-01-01' })
    const plain = signedCommit(project, ring, { key: path, email, format: 'ssh' })
    const status = async (seconds: string) => {
      const unsigned = changedCommit(project, plain, (commit) =>
        commit
          .replace(/\ngpgsig .*?-----END SSH SIGNATURE-----/s, '')
          .replace(/(\ncommitter .*>) \d+/, `$1 ${seconds}`),
      )
      const oid = await commitSignedBy(project, unsigned, (payload) => ring.sshSign(path, payload))
      return (await signature(ann, project, oid))?.verification_status
    }
    // Beyond the dates of JavaScript, those of PostgreSQL, and 1970.
    expect(await status('99999999999999')).toBe('unverified')
    expect(await status('8000000000000')).toBe('unverified')
    expect(await status('-900000000000')).toBe('verified')
    expect(await status('-99999999999999')).toBe('verified')
  })

  test('an SSH signature by a deploy key has an unknown key', async ({ world }) => {
    using ring = new Keyring()
    const { email, project } = await begin(world)
    const { path, text } = ring.sshKey('ed25519', 256)
    await world.root.post(`/projects/${project.id}/deploy_keys`, { title: 'robot', key: text })
    const oid = signedCommit(project, ring, { key: path, email, format: 'ssh' })
    expect(await signature(world.root, project, oid)).toMatchObject({ verification_status: 'unknown_key', key: null })
  })

  test('an SSH signature for another purpose or of a changed commit is unverified', async ({ world }) => {
    using ring = new Keyring()
    const { ann, email } = await begin(world)
    const project = await storedProject(world)
    const { path, text } = ring.sshKey('ed25519', 256)
    await ann.post('/user/keys', { title: 'laptop', key: text })
    const status = async (oid: Oid) => (await signature(ann, project, oid)).verification_status
    const plain = changedCommit(project, project.repository.commit({ 'a.txt': 'a' }), (commit) =>
      commit.replace('cid@example.com', email),
    )
    const signed = (namespace: string, hash: string) =>
      commitSignedBy(project, plain, (payload) => ring.sshSign(path, payload, namespace, hash))
    for (const hash of ['sha256', 'sha512']) expect(await status(await signed('git', hash))).toBe('verified')
    expect(await status(await signed('file', 'sha512'))).toBe('unverified')
    const good = await signed('git', 'sha512')
    const changes: ((text: string) => string)[] = [
      (commit) => commit.replace('Change', 'Chance'),
      (commit) => commit.replace(/(SIGNATURE-----\n )U1NI/, '$1AAAA'),
      (commit) => commit.replace(/\n .*\n( -----END)/, '\n$1'),
      (commit) => commit.replace(/(gpgsig (?:.*\n )*.*\n)/, '$1$1'),
      (commit) => commit.replace(/ -----END SSH SIGNATURE-----/, '$&\n trailing'),
    ]
    for (const change of changes)
      expect(await status(changedCommit(project, good, change)), String(change)).toBe('unverified')
  })
})
