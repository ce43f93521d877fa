import { config, createMessage, enums, generateKey, PacketList, Signature, SignaturePacket, sign } from 'openpgp'
import { expect, test } from 'vitest'
import { parsePgpSignature, verifiesPgp } from './pgp.ts'
import { hasGpg, Keyring } from './testing.ts'

const payload = Buffer.from('tree 1\n')

async function made() {
  const { privateKey, publicKey } = await generateKey({ userIDs: { email: 'ann@example.com' }, format: 'object' })
  const armored = await sign({
    message: await createMessage({ binary: payload }),
    signingKeys: privateKey,
    detached: true,
  })
  return { privateKey, publicKey, armored: armored.trim() }
}

test('an OpenPGP signature verifies only its bytes with its key', async () => {
  const { publicKey, armored } = await made()
  const signature = (await parsePgpSignature(armored))!
  expect(signature.keyId).toBe(publicKey.getKeyID().toHex().toUpperCase())
  expect(await verifiesPgp(signature, publicKey, payload)).toBe(true)
  expect(await verifiesPgp(signature, publicKey, Buffer.from('tree 2\n'))).toBe(false)
  expect(await verifiesPgp(signature, (await made()).publicKey, payload)).toBe(false)
})

test('a standalone OpenPGP signature, which would fit any commit, is refused', async () => {
  const { privateKey } = await made()
  const packet = new SignaturePacket() as any
  packet.signatureType = enums.signature.standalone
  packet.publicKeyAlgorithm = privateKey.keyPacket.algorithm
  packet.hashAlgorithm = enums.hash.sha512
  await packet.sign(privateKey.keyPacket, {}, new Date(), true, config)
  const packets = new PacketList<SignaturePacket>()
  packets.push(packet)
  expect(await parsePgpSignature(new Signature(packets).armor().trim())).toBeUndefined()
})

test('broken, too long or multiple OpenPGP signatures are refused', async () => {
  const { armored } = await made()
  const lines = armored.split('\n')
  for (const text of [
    '',
    armored.replace('SIGNATURE', 'MESSAGE'),
    lines.slice(0, -1).join('\n'),
    `${armored}\n${armored}`,
    `${armored}\nmore`,
    [...lines.slice(0, 3), ...lines.slice(4)].join('\n'),
    armored.replace('-----\n', `-----\nComment: ${'x'.repeat(20_000)}\n`),
  ])
    expect(await parsePgpSignature(text), text.slice(0, 80)).toBeUndefined()
})

test.skipIf(!hasGpg)('an OpenPGP signature with an expiry is refused (skipped without gpg)', async () => {
  using ring = new Keyring()
  const key = ring.gpgKey('Ann <ann@example.com>')
  expect(await parsePgpSignature(ring.gpgSign(key, payload))).toBeDefined()
  expect(await parsePgpSignature(ring.gpgSign(key, payload, '--default-sig-expire', '1d'))).toBeUndefined()
})
