import { bands, textOf } from '../format/packets.ts'

/** Whether the packets of a response to `fetch` are lines, or parts of the pack after the line `packfile`. */
export class FetchResponse {
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
    if (packet[4] === bands.error) return undefined
    return packet[4] === bands.pack ? packet.subarray(5) : packet.subarray(0, 0)
  }
}
