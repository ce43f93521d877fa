import type { RefChange } from '../format/ref-change.ts'
import { bandPackets, linesWithFlush } from '../sharing/packets.ts'
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
    ...bandPackets(2, Buffer.from(text.join(''))),
    ...bandPackets(1, linesWithFlush(['unpack ok\n', ...lines])),
    Buffer.from('0000'),
  ])
}
