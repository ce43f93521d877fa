import { bandPackets, bands, flushPacket, linesWithFlush } from '../format/packets.ts'
import type { RefChange } from '../format/ref-change.ts'
import { lineOfReport, type MoveOutcome } from './ref-moves.ts'
import { printableLines } from './verdict.ts'

/** The report of a push whose objects were good: messages that the client prints, then a line for each ref. */
export function reportOf(
  messages: readonly string[],
  updates: readonly RefChange[],
  outcomeOf: (update: RefChange) => MoveOutcome | undefined,
): Buffer {
  const text = printableLines(messages).map((line) => `${line}\n`)
  const lines = updates.map((update) => lineOfReport(update.name, outcomeOf(update)))
  return Buffer.concat([
    ...bandPackets(bands.message, Buffer.from(text.join(''))),
    ...bandPackets(bands.pack, linesWithFlush(['unpack ok\n', ...lines])),
    flushPacket,
  ])
}
