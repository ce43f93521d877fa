import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { describe, expect } from 'vitest'
import { withTwoFactor } from '../../src/modules/accounts/two-factor/testing.ts'
import { deployKey, gitSsh, hasSsh, type KeyPair, keyPair, ssh, sshUrl, sshWith, sshWords, withKey } from '../ssh.ts'
import { changeUser, deleteSshKeys, expireSshKeys } from '../tables/users.ts'
import { temporaryFolder, test } from '../world.ts'

describe.skipIf(!hasSsh)('signing in and commands over SSH (need OpenSSH)', () => {
  test.for([
    'ls -la',
    'sh',
    '',
    'git-upload-pack',
    'git-upload-pack ',
    'git-upload-pack x',
    "git-upload-pack '../../etc'",
    "git-upload-pack '/etc/passwd' extra",
    "git-upload-pack 'a/b.git'; id",
    "git-upload-pack 'a/b.git' && id",
    "git-upload-pack 'a/$(id).git'",
    "git-upload-pack 'a/`id`.git'",
    "git-upload-pack 'a/b.git\nid'",
    "git-upload-pack --help 'a/b.git'",
    "git-upload-pack --upload-pack=id 'a/b.git'",
    'git-upload-pack "a/b.git"',
    "git-upload-pack 'a'/'b.git'",
    "git-upload-pack 'a/b.git",
    "git-upload-pack '~/b.git'",
    "git-upload-pack '-x/b.git'",
    "git-receive-pack 'a//b.git'",
    "git-shell -c 'git-upload-pack a/b.git'",
    "GIT-UPLOAD-PACK 'a/b.git'",
    "git  upload-pack 'a/b.git'",
    `git-upload-pack '${'a/'.repeat(3000)}b.git'`,
  ])('the SSH command %j is refused with a message', async (command, { world }) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, await world.user())
    const { code, out, err } = await ssh(world, key, command)
    if (command === '') return expect(out).toContain('Welcome')
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(
      /^Stithy: (The command you're trying to execute is not allowed|The project you were looking for could not be found)\.\n$/,
    )
  })

  test('SSH refuses unknown keys, other user names and stolen public keys', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [known, unknown] = [await withKey(folder.path, await world.user()), await keyPair(folder.path)]
    expect(await ssh(world, unknown)).toMatchObject({
      code: 255,
      err: expect.stringContaining('Permission denied (publickey)'),
    })
    expect(await sshWith(world, known, [], 'root')).toMatchObject({ code: 255 })
    // A public key of another user without its private half.
    await writeFile(join(folder.path, 'stolen.pub'), known.text)
    await copyFile(unknown.file, join(folder.path, 'stolen'))
    expect(await ssh(world, { ...known, file: join(folder.path, 'stolen') })).toMatchObject({ code: 255 })
  })

  test.for([
    ['rsa', '2048'],
    ['ecdsa', '256'],
    ['ecdsa', '521'],
    ['ed25519', '256'],
  ] as const)('an SSH key of type %s with %s bits is accepted', async ([type, bits], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await keyPair(folder.path, '-t', type, '-b', bits)
    expect((await ann.post('/user/keys', { title: type, key: key.text })).status).toBe(201)
    expect(await ssh(world, key)).toMatchObject({ code: 0, err: '' })
  })

  test.for([
    ['curve25519-sha256', 0],
    ['ecdh-sha2-nistp256', 0],
    ['diffie-hellman-group14-sha256', 0],
    ['diffie-hellman-group18-sha512', 255],
    ['diffie-hellman-group14-sha1', 255],
  ] as const)('ssh with key exchange %s ends with status %s', async ([algorithm, code], { world }) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, world.root)
    expect((await sshWith(world, key, ['-o', `KexAlgorithms=${algorithm}`], 'git')).code).toBe(code)
  })

  test('a client that waits for the key exchange of the server gets it', async ({ world }) => {
    const socket = connect({ host: '127.0.0.1', port: world.config.sshPort })
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
    socket.write('SSH-2.0-patient\r\n')
    await expect.poll(() => received).toMatch(/^SSH-2\.0-Stithy\r\n.*curve25519-sha256/s)
    socket.destroy()
  })

  test.for([
    ['curve25519-sha256', 'ssh-ed25519', 'a right guess'],
    ['ecdh-sha2-nistp521,curve25519-sha256', 'ssh-ed25519', 'a wrong guess of the key exchange'],
    ['curve25519-sha256', 'ssh-rsa,ssh-ed25519', 'a wrong guess of the host key'],
  ] as const)(
    'a client that offers %s and %s and sends its first packet with them, %s, gets a reply',
    async ([exchanges, hostKeys, guess], { world }) => {
      const socket = connect({ host: '127.0.0.1', port: world.config.sshPort })
      let received = ''
      socket.setEncoding('latin1').on('data', (chunk) => {
        received += chunk
      })
      const list = (names: string) => Buffer.concat([uint32(names.length), Buffer.from(names)])
      const both = (names: string) => [list(names), list(names)]
      const lists = [list(exchanges), list(hostKeys), ...both('aes128-ctr'), ...both('hmac-sha2-256'), ...both('none')]
      const [kexInit, guessFollows] = [20, 1]
      const offer = [Buffer.of(kexInit), randomBytes(16), ...lists, ...both(''), Buffer.of(guessFollows), uint32(0)]
      const { publicKey } = generateKeyPairSync('x25519')
      const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
      const firstPacket = packet(Buffer.of(30), uint32(32), point)
      socket.write(Buffer.concat([Buffer.from('SSH-2.0-guessing\r\n'), packet(...offer), firstPacket]))
      if (guess !== 'a right guess') {
        await expect.poll(() => received).toContain('curve25519-sha256')
        socket.write(firstPacket)
      }
      await expect.poll(() => received.slice(received.indexOf('hmac-sha2'))).toContain('ssh-ed25519')
      socket.destroy()
    },
  )

  test('a client that asks whether an RSA key is accepted gets the name of the algorithm it asked for', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const key = await keyPair(folder.path, '-t', 'rsa', '-b', '2048')
    await world.root.post('/user/keys', { title: 'old', key: key.text })
    const client = new ssh2.Client()
    const answers: string[] = []
    client.on('handshake', () => {
      const { read } = (client as any)._protocol._packetRW
      const reading = read.read.bind(read)
      read.read = (bytes: Buffer) => {
        const payload = reading(bytes)
        if (payload[0] === 60) answers.push(payload.toString('latin1', 5, 5 + payload.readUInt32BE(1)))
        return payload
      }
    })
    client.connect({ port: world.config.sshPort, username: 'git', privateKey: await readFile(key.file) })
    await once(client, 'ready')
    client.end()
    expect(answers).toEqual(['rsa-sha2-256'])
  })

  test('SSH refuses blocked users, expired keys and removed keys at once', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const setState = (state: string) => changeUser(world, ann.id, { state: state })
    for (const [state, text] of [
      ['blocked', 'Your account has been blocked.'],
      ['deactivated', 'Your account has been deactivated. Please sign in to activate it.'],
    ] as const) {
      await setState(state)
      expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: `Stithy: ${text}\n` })
    }
    await setState('active')
    expect((await ssh(world, key)).code).toBe(0)
    await expireSshKeys(world, ann.id)
    expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: 'Stithy: Your SSH key has expired.\n' })
    await deleteSshKeys(world, ann.id)
    expect((await ssh(world, key)).code).toBe(255)
  })

  test('SSH refuses keys whose type or size was forbidden later, deploy keys included', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project()
    const robot = await deployKey(world, folder.path, project, false)
    const fetches = (by: KeyPair) => gitSsh(world, by, folder.path, 'ls-remote', sshUrl(world, project))
    await world.settings({ ed25519_key_restriction: -1, dsa_key_restriction: -1 })
    const forbidden = 'Stithy: Your SSH key type is forbidden. Must be RSA or ECDSA.\n'
    expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: forbidden })
    expect((await fetches(robot)).err).toContain(forbidden)
    const rsa = await keyPair(folder.path, '-t', 'rsa', '-b', '2048')
    expect((await ann.post('/user/keys', { title: 'old', key: rsa.text })).status).toBe(201)
    expect((await ssh(world, rsa)).code).toBe(0)
    await world.settings({ ed25519_key_restriction: 0, rsa_key_restriction: 4096 })
    expect((await ssh(world, rsa)).err).toBe('Stithy: Your SSH key must be at least 4096 bits.\n')
    expect([(await ssh(world, key)).code, (await fetches(robot)).code]).toEqual([0, 0])
  })

  test('2fa_recovery_codes prints new recovery codes after a confirmation', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const device = await withTwoFactor(world, ann)
    const ask = async (answer: string) => {
      const asking = spawn('ssh', sshWords(world, key, '2fa_recovery_codes'), { stdio: ['pipe', 'pipe', 'ignore'] })
      asking.stdin.end(answer)
      const [printed] = await Promise.all([asking.stdout.setEncoding('utf8').toArray(), once(asking, 'close')])
      return printed.join('')
    }
    const left = async () => (await ann.get('/user/two_factor')).json.recovery_codes_left
    for (const answer of ['', 'no\n', 'x'.repeat(10_000)])
      expect(await ask(answer)).toMatch(/\(yes\/no\).*No new recovery codes were generated/s)
    expect(await ann.post('/user/two_factor/recovery_codes', { code: device.recoveryCodes[0] })).toMatchObject({
      status: 201,
    })
    const codes = (await ask('yes\n')).match(/\b[0-9a-f]{20}\b/g)!
    expect([codes.length, await left()]).toEqual([10, 10])
    expect(await ann.send('DELETE', '/user/two_factor', { json: { code: codes[3] } })).toMatchObject({ status: 204 })
    const { json } = await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)
    expect(json.filter((event: any) => event.event_name === 'recovery_codes_renewed')).toHaveLength(2)
    const robot = await deployKey(world, folder.path, await world.project(), true)
    expect((await ssh(world, robot, '2fa_recovery_codes')).err).toBe('Stithy: A deploy key has no recovery codes.\n')
  })

  test('2fa_recovery_codes confirmed after the key was removed changes nothing', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    await withTwoFactor(world, ann)
    const asking = spawn('ssh', sshWords(world, key, '2fa_recovery_codes'), { stdio: ['pipe', 'pipe', 'pipe'] })
    await once(asking.stdout, 'data')
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    asking.stdin.end('yes\n')
    const [printed, error] = await Promise.all(
      [asking.stdout, asking.stderr].map((stream) => stream.setEncoding('utf8').toArray()),
    )
    expect([printed!.join(''), error!.join('')]).toEqual(['', 'Stithy: This key may not be used any more.\n'])
    const { json } = await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)
    expect(json.filter((event: any) => event.event_name === 'recovery_codes_renewed')).toEqual([])
  })

  test('an open SSH connection runs no more commands after its key was removed', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const shared = ['-o', `ControlPath=${join(folder.path, 'master')}`]
    await sshWith(world, key, [...shared, '-o', 'ControlMaster=auto', '-o', 'ControlPersist=20'], 'git')
    expect((await sshWith(world, key, shared, 'git')).code).toBe(0)
    await deleteSshKeys(world, ann.id)
    expect(await sshWith(world, key, shared, 'git')).toMatchObject({
      code: 1,
      err: 'Stithy: This key is no longer registered.\n',
    })
    await sshWith(world, key, [...shared, '-O', 'exit'], 'git')
  })
})

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A packet before the encryption begins: its length, that of the padding, and both (RFC 4253, section 6). */
function packet(...parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts)
  const padding = 16 - ((payload.length + 5 + 8) % 8)
  return Buffer.concat([uint32(payload.length + padding + 1), Buffer.of(padding), payload, Buffer.alloc(padding)])
}
