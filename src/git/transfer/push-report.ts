import type { RefChange } from '../format/ref-change.ts'
import { bandPackets, linesWithFlush } from '../sharing/packets.ts'
import type { MoveOutcome } from './ref-moves.ts'
import { printableLines } from './verdict.ts'

/** The report of a push whose objects were good: messages that the client prints, then a line for each ref. `'declined'` is what git says of a hook. */
export const reportOf = (
  messages: readonly string[],
  updates: readonly RefChange[],
  outcomeOf: (update: RefChange) => MoveOutcome | 'declined' | undefined,
): Buffer =>
  Buffer.concat([
    ...bandPackets(
      2,
      Buffer.from(
        printableLines(messages)
          .map((line) => `${line}\n`)
          .join(''),
      ),
    ),
    ...bandPackets(1, linesWithFlush(['unpack ok\n', ...updates.map((update) => lineOf(update, outcomeOf(update)))])),
    Buffer.from('0000'),
  ])

function lineOf({ name }: RefChange, outcome: MoveOutcome | 'declined' | undefined): string {
  if (outcome === 'moved') return `ok ${name}\n`
  return `ng ${name} ${outcome === 'declined' ? 'pre-receive hook declined' : (outcome?.failed ?? 'it was not moved')}\n`
}
