const flush = '0000'

/** The largest pkt-line (gitprotocol-common). Its length has four digits, so that at most 65,535 bytes are buffered. */
export const maxPacketBytes = 65_520

/** The largest part of a packet with the number of its band. */
const maxPart = maxPacketBytes - 5

/** Splits a stream into whole pkt-lines, each with its header. */
export class Packets {
  #rest: Buffer = Buffer.alloc(0)

  /** The packets that `chunk` completes. Throws if the bytes are not pkt-lines. */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const packets: Buffer[] = []
    let at = 0
    while (bytes.length - at >= 4) {
      const length = lengthOf(bytes, at)
      if (bytes.length - at < length) break
      packets.push(bytes.subarray(at, at + length))
      at += length
    }
    this.#rest = bytes.subarray(at)
    return packets
  }

  /** Bytes of an incomplete packet. */
  get rest(): Buffer {
    return this.#rest
  }
}

/** Length with the header; separators have only the header. */
function lengthOf(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + 4)
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : 3
  if (length === 3) throw new Error('not a pkt-line')
  return Math.max(length, 4)
}

export const isFlush = (packet: Buffer): boolean => packet.length === 4 && packet.toString('latin1') === flush

/** Text of a packet without its newline; '' for a separator. */
export const textOf = (packet: Buffer): string => packet.toString('utf8', 4).replace(/\n$/, '')

const packBand = 1
const errorBand = 3

/** Whether the packets of a response to `fetch` are lines, or parts of the pack after the line `packfile`. */
export class Response {
  #isPack = false

  /**
   * The bytes of a packet that do not depend on the time it took: a line, or its part of the pack. Progress has none. An
   * error in place of the rest of the pack gives `undefined`.
   */
  contentOf(packet: Buffer): Buffer | undefined {
    if (!this.#isPack) {
      this.#isPack = textOf(packet) === 'packfile'
      return packet
    }
    if (packet.length === 4) return packet
    if (packet[4] === errorBand) return undefined
    return packet[4] === packBand ? packet.subarray(5) : packet.subarray(0, 0)
  }
}

/** A packet with this part of the pack. */
export const packPacket = (part: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${(part.length + 5).toString(16).padStart(4, '0')}\x01`, 'latin1'), part])

/** The packet at `at`; `undefined` if the bytes end before it does, or are none. */
export function packetAt(bytes: Buffer, at: number): Buffer | undefined {
  if (bytes.length - at < 4) return undefined
  try {
    const length = lengthOf(bytes, at)
    return bytes.length - at < length ? undefined : bytes.subarray(at, at + length)
  } catch {
    return undefined
  }
}

/** Lines as pkt-lines, then a flush. */
export const linesWithFlush = (lines: readonly string[]): Buffer =>
  Buffer.from(`${lines.map(packetOf).join('')}${flush}`)

/** The packet after which a client prints the message and gives up. */
export const errorPacket = (message: string): Buffer => Buffer.from(packetOf(`ERR ${message}`))

const packetOf = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

/** Bytes as packets of a band (side-band-64k). */
export function* bandPackets(band: 1 | 2, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += maxPart) {
    const part = bytes.subarray(at, at + maxPart)
    yield Buffer.from(`${(part.length + 5).toString(16).padStart(4, '0')}${String.fromCharCode(band)}`, 'latin1')
    yield part
  }
}
