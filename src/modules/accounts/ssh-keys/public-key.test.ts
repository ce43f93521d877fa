import { describe, expect, test } from 'vitest'
import { parsePublicKey } from './public-key.ts'
import { blobOf, newPublicKey } from './testing.ts'

// Made with ssh-keygen, whose fingerprints these are.
const known = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChhpb/QFIcXiRr1m5EPCYpXPKoKnQFZRVVsLCLhS ann@example.com'

const base64 = (text: string): string => text.split(' ')[1]!
const ed25519 = (bytes: number) => `ssh-ed25519 ${blobOf('ssh-ed25519', Buffer.alloc(bytes, 1)).toString('base64')}`

describe('a public key', () => {
  test('has type, size and the fingerprints that OpenSSH shows', () => {
    expect(parsePublicKey(known)).toEqual({
      type: 'ed25519',
      bits: 256,
      text: known,
      md5: '3b:89:67:46:36:25:71:06:ce:f6:e0:89:d2:0d:f2:3e',
      sha256: 'eORqVrZraV5RsVJOS+/yfpQM3wRIk+Oc884NyP+frtQ',
    })
    expect(parsePublicKey(newPublicKey('rsa', 1024))).toMatchObject({ type: 'rsa', bits: 1024 })
    expect(parsePublicKey(newPublicKey('rsa', 2048))).toMatchObject({ type: 'rsa', bits: 2048 })
    for (const bits of [256, 384, 521])
      expect(parsePublicKey(newPublicKey('ecdsa', bits))).toMatchObject({ type: 'ecdsa', bits })
  })

  test('loses blanks and line breaks within, and keeps its comment', () => {
    const [type, encoded] = known.split(' ') as [string, string]
    const broken = `  ${type}\n${encoded.slice(0, 30)}\r\n ${encoded.slice(30)}\tann\n smith  \n`
    expect(parsePublicKey(broken)?.text).toBe(`${type} ${encoded} ann smith`)
  })

  test.for([
    ['nothing', ''],
    ['a type alone', 'ssh-ed25519'],
    ['no base64', 'ssh-ed25519 !!!!'],
    ['base64 of nothing we know', `ssh-ed25519 ${Buffer.from('hello, world').toString('base64')}`],
    ['another type than it says', `ssh-rsa ${base64(known)}`],
    ['a type nobody knows', known.replaceAll('ssh-ed25519', 'ssh-ed448')],
    ['a key that is cut short', known.slice(0, 60)],
    ['a key of 31 bytes', ed25519(31)],
    ['a key of 33 bytes', ed25519(33)],
    [
      'something after the key',
      `ssh-ed25519 ${Buffer.concat([Buffer.from(base64(known), 'base64'), Buffer.alloc(3)]).toString('base64')}`,
    ],
    ['a length beyond the end', `ssh-ed25519 ${Buffer.from('ffffffff00', 'hex').toString('base64')}`],
    [
      'a point that is not on the curve',
      `ecdsa-sha2-nistp256 ${blobOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)])).toString('base64')}`,
    ],
    [
      'a curve that its name does not say',
      `ecdsa-sha2-nistp256 ${blobOf('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(65, 4)).toString('base64')}`,
    ],
    [
      'a negative modulus',
      `ssh-rsa ${blobOf('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.alloc(256, 0xff)).toString('base64')}`,
    ],
    [
      'an even modulus',
      `ssh-rsa ${blobOf('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.concat([Buffer.alloc(255, 1), Buffer.alloc(1)])).toString('base64')}`,
    ],
    ['the exponent 1', `ssh-rsa ${blobOf('ssh-rsa', Buffer.from([1]), Buffer.alloc(256, 1)).toString('base64')}`],
    [
      'a private key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----',
    ],
    ['options before it, as in authorized_keys', `command="sh" ${known}`],
    ['2,500 words', `ssh-ed25519 ${'A '.repeat(2490)}`],
    ['more than 5,000 characters', `${known} ${'x'.repeat(5000)}`],
  ] as const)('is not %s', ([, text]) => {
    expect(parsePublicKey(text)).toBeUndefined()
  })

  test('is written in one way only', () => {
    const key = newPublicKey('ecdsa')
    const last = /(.)= /.exec(key)![1]!
    // The bits that the padding leaves over.
    const otherwise = key.replace(`${last}= `, `${String.fromCharCode(last.charCodeAt(0) + 1)}= `)
    expect(Buffer.from(base64(otherwise), 'base64')).toEqual(Buffer.from(base64(key), 'base64'))
    expect(parsePublicKey(key)).toBeDefined()
    expect(parsePublicKey(otherwise)).toBeUndefined()
  })

  test('never brings a second line with it', () => {
    const injected = parsePublicKey(`${known}\ncommand="sh" ssh-ed25519 AAAA evil\u0000\u001b[2J`)
    expect(injected?.text).toBe(`${known} command="sh" ssh-ed25519 AAAA evil[2J`)
  })
})
