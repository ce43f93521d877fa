/*
 * Pkt-lines (gitprotocol-common): four hex digits with the length, these included, then the content. Lengths below 4 are separators without
 * content.
 */

const flush = '0000'

/** Ends a list, a request or a response. */
export const flushPacket: Buffer = Buffer.from(flush)

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

/** What the header of a packet says: 0 for a flush, 1 and 2 for other separators, else its length. `undefined` if it is no header. */
export function parseHeader(digits: string): number | undefined {
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : 3
  return length === 3 ? undefined : length
}

/** Length with the header; separators have only the header. */
function lengthOf(bytes: Buffer, at: number): number {
  const length = parseHeader(bytes.toString('latin1', at, at + 4))
  if (length === undefined) throw new Error('not a pkt-line')
  return Math.max(length, 4)
}

export const isFlush = (packet: Buffer): boolean => packet.length === 4 && packet.toString('latin1') === flush

/** Whether what was written ends with a flush, unless that is the end of a longer packet. */
export const endsWithFlush = (bytes: Buffer): boolean =>
  bytes.toString('latin1', Math.max(0, bytes.length - flush.length)) === flush

/** Text of a packet without its newline; '' for a separator. */
export const textOf = (packet: Buffer): string => packet.toString('utf8', 4).replace(/\n$/, '')

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
  Buffer.from(`${lines.map((line) => headerOf(Buffer.byteLength(line)) + line).join('')}${flush}`)

/** The packet after which a client prints the message and gives up. */
export const errorPacket = (message: string): Buffer => {
  const text = `ERR ${message}`
  return Buffer.from(headerOf(Buffer.byteLength(text)) + text)
}

const headerOf = (contentBytes: number): string => (contentBytes + 4).toString(16).padStart(4, '0')

/** Of side-band-64k: the pack, messages that the client prints, and an error in place of the rest. */
export const bands = { pack: 1, message: 2, error: 3 } as const

/** Bytes as packets of a band. */
export function* bandPackets(band: number, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += maxPart) {
    const part = bytes.subarray(at, at + maxPart)
    yield Buffer.from(`${headerOf(part.length + 1)}${String.fromCharCode(band)}`, 'latin1')
    yield part
  }
}
