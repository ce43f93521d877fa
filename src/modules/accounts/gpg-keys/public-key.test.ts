import { enums, generateKey, PacketList, readKey, SignaturePacket, UserIDPacket } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { maximumKeyLength, parseGpgKey } from './public-key.ts'
import { newGpgKey, slowDsaKey } from './testing.ts'

const body = (block: string): string => block.split('\n').slice(2, -1).join('\n')
const armoured = (text: string) => `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${text}\n-----END PGP PUBLIC KEY BLOCK-----`

describe('GPG public key blocks', () => {
  test('a GPG key has a fingerprint, identities and subkeys', async () => {
    const block = await newGpgKey('ann@example.com', 'ann@example.org')
    const key = await readKey({ armoredKey: block })
    const fingerprint = key.getFingerprint().toUpperCase()
    expect(await parseGpgKey(block)).toEqual({
      fingerprint,
      keyId: fingerprint.slice(-16),
      identities: [
        { name: 'Ann', email: 'ann@example.com' },
        { name: 'Ann', email: 'ann@example.org' },
      ],
      subkeys: [
        {
          fingerprint: key.subkeys[0]!.getFingerprint().toUpperCase(),
          keyId: key.subkeys[0]!.getKeyID().toHex().toUpperCase(),
        },
      ],
    })
  })

  test('identities that a GPG key does not certify are ignored', async () => {
    const key = await readKey({ armoredKey: await newGpgKey('ann@example.com') })
    const packets = new PacketList<any>()
    const own = key.toPacketList()
    // Another name before the certification of the key's own.
    for (const packet of own)
      packets.push(packet instanceof UserIDPacket ? UserIDPacket.fromObject({ email: 'root@example.com' }) : packet)
    const forged = armoured(Buffer.from(packets.write() as Uint8Array).toString('base64'))
    expect(await parseGpgKey(forged)).toBeUndefined()
  })

  test('an expired GPG key can be parsed', async () => {
    const { publicKey } = await generateKey({
      userIDs: { email: 'ann@example.com' },
      date: new Date('2020-01-01'),
      keyExpirationTime: 60,
    })
    expect((await parseGpgKey(publicKey.trim()))?.subkeys).toHaveLength(1)
  })

  test('a DSA key is refused, and a DSA subkey left out, before they verify anything with numbers of any length', async () => {
    const list = async (block: string) => (await readKey({ armoredKey: block })).toPacketList() as PacketList<any>
    const own = await list(await newGpgKey('ann@example.com'))
    const [primary, subkey] = [slowDsaKey(), slowDsaKey(true)]
    const withSubkey = Buffer.concat([own.write(), subkey])
    expect(await parseGpgKey(armoured(primary.toString('base64')))).toBeUndefined()
    expect((await parseGpgKey(armoured(withSubkey.toString('base64'))))?.subkeys).toHaveLength(1)
  })

  test('a GPG key with too many certifications and revocations of one identity is refused', async () => {
    const key = await readKey({ armoredKey: await newGpgKey('ann@example.com') })
    const packets = new PacketList<any>()
    for (const packet of key.toPacketList() as PacketList<any>) {
      packets.push(packet)
      if (packet !== key.users[0]!.selfCertifications[0]) continue
      for (let count = 0; count < 30; count++) {
        const signatureData = Uint8Array.from(packet.signatureData)
        signatureData[1] = enums.signature.certRevocation
        const revocation = Object.assign(new SignaturePacket(), packet, { signatureData })
        packets.push(packet, revocation)
      }
    }
    expect(await parseGpgKey(armoured(Buffer.from(packets.write() as Uint8Array).toString('base64')))).toBeUndefined()
  })

  test('a broken, private, double or too large GPG key is refused', async () => {
    const block = await newGpgKey('ann@example.com')
    const { privateKey } = await generateKey({ userIDs: { email: 'ann@example.com' } })
    const many = Array.from({ length: 60 }, (_, at) => `ann${at}@example.com`)
    const hostile = [
      '',
      armoured(''),
      armoured('nonsense!'),
      armoured(Buffer.alloc(90_000, 0xff).toString('base64')),
      armoured(body(block).slice(0, 100)),
      privateKey.trim(),
      armoured(body(privateKey)),
      `${block}\n${await newGpgKey('bob@example.com')}`,
      armoured('A'.repeat(maximumKeyLength)),
      block.slice(1),
    ]
    for (const text of hostile) expect(await parseGpgKey(text), text.slice(0, 60)).toBeUndefined()
    expect((await parseGpgKey(await newGpgKey(...many)))?.identities).toHaveLength(60)
    const { publicKey } = await generateKey({
      userIDs: { email: 'ann@example.com' },
      subkeys: Array.from({ length: 260 }, () => ({ sign: false })),
    })
    expect(await parseGpgKey(publicKey.trim())).toBeUndefined()
  })
})
