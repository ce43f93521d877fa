import { hash } from 'node:crypto'
import { generateKey } from 'openpgp'

/** A new public key block with these addresses. */
export const newGpgKey = async (...emails: string[]): Promise<string> =>
  (await generateKey({ userIDs: emails.map((email) => ({ name: 'Ann', email })), format: 'armored' })).publicKey.trim()

/** A number of OpenPGP: its bits, and its bytes. */
function mpi(bits: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length * 8)
  return Buffer.concat([length, bytes])
}

function packet(tag: number, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return Buffer.concat([Buffer.from([0xc0 | tag, 255]), length, body])
}

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

/**
 * The packets of a DSA key, or of the subkey alone, whose signatures take many seconds each to find out that they are wrong: their order
 * has 60,000 bits instead of 256.
 */
export function slowDsaKey(asSubkey = false): Buffer {
  const key = Buffer.concat([Buffer.from([4, 0x5f, 0, 0, 0, 17]), mpi(8192), mpi(60_000), mpi(8184), mpi(8184)])
  if (asSubkey) return packet(14, key)
  const name = Buffer.from('Eve <eve@example.com>')
  const keyPart = Buffer.concat([Buffer.from([0x99]), u16(key.length), key])
  const namePart = Buffer.concat([Buffer.from([0xb4, 0, 0, 0, name.length]), name])
  const issuer = hash('sha1', keyPart, 'buffer').subarray(-8)
  const hashed = Buffer.concat([Buffer.from([5, 2, 0x5f, 0, 0, 1, 9, 16]), issuer])
  const head = Buffer.concat([Buffer.from([4, 0x13, 17, 8]), u16(hashed.length), hashed])
  const signed = Buffer.concat([keyPart, namePart, head, Buffer.from([4, 0xff, 0, 0, 0, head.length])])
  const digest = hash('sha256', signed, 'buffer').subarray(0, 2)
  const signature = packet(2, Buffer.concat([head, u16(0), digest, Buffer.from([0, 2, 3, 0, 2, 2])]))
  return Buffer.concat([packet(6, key), packet(13, name), ...Array.from({ length: 10 }, () => signature)])
}
