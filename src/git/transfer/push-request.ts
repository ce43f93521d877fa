import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { packHeaderBytes, packTrailerBytes } from '../format/pack-format.ts'
import { isFlush, maxPacketBytes, packetAt } from '../format/packets.ts'
import { parseUpdate, type RefChange } from '../format/ref-change.ts'

/** A push that creates or moves branches and tags with a small pack, as the client sent it (gitprotocol-pack). */
export type SmallRequest = {
  readonly updates: readonly RefChange[]
  readonly pushOptions: readonly string[]
  readonly isAtomic: boolean
  /** Number of objects in the pack. */
  readonly objects: number
  readonly pack: Buffer
}

/** Beyond these numbers git stores a pack instead of files, or the push is not one of a person. */
const maxObjects = 99
const maxUpdates = 20
const maxOptions = 100

const update = /^[0-9a-f]{40} [0-9a-f]{40} refs\/(?:heads|tags)\//

/**
 * Parses the bytes of a request that have arrived. `'more'` if it is not whole, `'git'` if git has to handle it: a push of another kind, or
 * one that is malformed, of which git knows what to say. `end` is the same one for each call with more bytes of a request.
 */
export function parseSmallRequest(bytes: Buffer, end = new PackEnd()): SmallRequest | 'more' | 'git' {
  const reader = new PacketReader(bytes)
  const commands = reader.untilFlush(maxUpdates)
  if (!Array.isArray(commands)) return commands
  const [command = '', capabilities = ''] = (commands[0] ?? '').split('\0')
  const asked = capabilities.trim().split(' ')
  if (!isUsual(asked)) return 'git'
  const updates = updatesOf([command, ...commands.slice(1)])
  const pushOptions = asked.includes('push-options') ? reader.untilFlush(maxOptions) : []
  if (!updates || pushOptions === 'git') return 'git'
  if (pushOptions === 'more') return pushOptions
  const pack = reader.rest()
  const objects = objectsIn(pack)
  if (typeof objects === 'string') return objects
  if (!end.isReached(pack)) return 'more'
  return { updates, pushOptions, isAtomic: asked.includes('atomic'), objects, pack }
}

/** Whether the client has nothing to push. */
export const isNothing = (bytes: Buffer): boolean => bytes.length === 4 && isFlush(bytes)

/** Whether the client takes a report with messages beside it, as git does since 2008, and pushes objects of this format without a certificate. */
const isUsual = (asked: readonly string[]): boolean =>
  asked.includes('side-band-64k') &&
  asked.some((each) => each === 'report-status' || each === 'report-status-v2') &&
  asked.every((each) => !/^(?:push-cert|object-format)=/.test(each) || each === 'object-format=sha1')

/** `undefined` if one is not of a branch or tag, deletes one, or two are of the same. */
function updatesOf(lines: readonly string[]): readonly RefChange[] | undefined {
  const updates = lines.flatMap((line) => (update.test(line) ? (parseUpdate(line) ?? []) : []))
  const isEach = updates.length === lines.length && updates.every(({ to }) => to !== null)
  return isEach && new Set(updates.map(({ name }) => name)).size === updates.length ? updates : undefined
}

/** The number in the header of a pack of version 2. A pack without objects has nothing else. */
function objectsIn(pack: Buffer): number | 'more' | 'git' {
  if (pack.length < packHeaderBytes) return 'more'
  const objects = pack.readUInt32BE(8)
  const isPack = pack.toString('latin1', 0, 4) === 'PACK' && pack.readUInt32BE(4) === 2
  if (!isPack || objects > maxObjects) return 'git'
  return objects === 0 && pack.length > packHeaderBytes + packTrailerBytes ? 'git' : objects
}

/** Recognizes the end of a pack that arrives in pieces: the hash of all before. Hashes each byte once, however many pieces there are. */
export class PackEnd {
  readonly #hash = createHash('sha1')
  #hashed = 0

  /** Whether the pack is whole. Each call has all bytes of the earlier ones, and more. */
  isReached(pack: Buffer): boolean {
    if (pack.length < packHeaderBytes + packTrailerBytes) return false
    const end = pack.length - packTrailerBytes
    this.#hash.update(pack.subarray(this.#hashed, end))
    this.#hashed = end
    return this.#hash.copy().digest().equals(pack.subarray(end))
  }
}

class PacketReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Texts up to the next flush. `'git'` if there are more than `most`, or others than texts. */
  untilFlush(most: number): string[] | 'more' | 'git' {
    const texts: string[] = []
    while (texts.length <= most) {
      const packet = packetAt(this.#bytes, this.#at)
      if (!packet) return this.#mayBeginPacket() ? 'more' : 'git'
      this.#at += packet.length
      if (isFlush(packet)) return texts
      if (packet.length === 4 || !isUtf8(packet)) return 'git'
      texts.push(packet.toString('utf8', 4).replace(/\n$/, ''))
    }
    return 'git'
  }

  #mayBeginPacket(): boolean {
    const head = this.#bytes.toString('latin1', this.#at, this.#at + 4)
    return this.#bytes.length - this.#at <= maxPacketBytes && /^[0-9a-f]{0,4}$/i.test(head) && head !== '0003'
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }
}
