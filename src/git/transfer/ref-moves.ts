import type { Socket } from 'node:net'
import { isFlush, linesWithFlush, Packets, textOf } from '../format/packets.ts'
import { parseUpdate, type RefChange } from '../format/ref-change.ts'
import type { RefName } from '../format/ref-name.ts'
import { printableLines } from './verdict.ts'

/**
 * The outcome for a ref. `failed` is the reason shown to the client; `mayHaveMoved` if only the ref itself shows the outcome.
 */
export type MoveOutcome = 'moved' | { readonly failed: string; readonly mayHaveMoved: boolean }

/** Moves the refs of a push and returns the outcome of each. `isAtomic`: all must move or none. */
export type MoveRefs = (updates: readonly RefChange[], isAtomic: boolean) => Promise<ReadonlyMap<RefName, MoveOutcome>>

/** Lines that the client prints after `remote: `. Called once, after the refs have moved; must not reject. */
export type AfterMoves = () => Promise<readonly string[]>

/**
 * The server's side of `hooks/proc-receive`: speaks the protocol of git's hook of that name (version 1, pkt-lines; see
 * githooks) after git has moved the objects of the push out of quarantine. Git learns of the moves, and reports them to the client,
 * once `after` has resolved. Resolves when the hook is answered, or when git ends without a request. Rejects with the error of
 * `move`: git then reports every ref as failed.
 */
export async function converseOnMoves(channel: Socket, move: MoveRefs, after?: AfterMoves): Promise<void> {
  const packets = readPackets(channel)
  const greeting = await readUntilFlush(packets)
  if (!greeting) return
  // No push options: the pre-receive hook has sent them. Both sides must agree on `atomic`.
  const [, capabilities = ''] = (greeting[0] ?? '').split('\0')
  const isAtomic = capabilities.split(' ').includes('atomic')
  channel.write(`=${escaped(linesWithFlush([`version=1${isAtomic ? '\0atomic' : ''}\n`]))}\n`)
  const requested = await readUntilFlush(packets)
  if (!requested) return
  // The pre-receive hook has rejected names with line breaks. Git rejects every ref without a report.
  const updates = requested.flatMap((line) => parseUpdate(line) ?? [])
  const outcomes = await move(updates, isAtomic)
  const lines = printableLines((await after?.()) ?? [])
  channel.write(`${lines.map((line) => `:${escaped(line)}\n`).join('')}report\n`)
  channel.write(linesWithFlush(updates.map(({ name }) => lineOfReport(name, outcomes.get(name)))))
}

/** As `printf %b` of any shell reads it: bytes that are special to a shell, or not ASCII, in octal. */
const escaped = (text: Buffer | string): string =>
  [...Buffer.from(text as string)]
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || byte === 0x5c
        ? `\\0${byte.toString(8).padStart(3, '0')}`
        : String.fromCharCode(byte),
    )
    .join('')

/** What git says of a ref in the report of a push. */
export const lineOfReport = (name: RefName, outcome: MoveOutcome | undefined): string =>
  outcome === 'moved' ? `ok ${name}\n` : `ng ${name} ${outcome?.failed ?? 'it was not moved'}\n`

/** Texts of pkt-lines up to the next flush; `undefined` if the channel ends before. */
async function readUntilFlush(packets: AsyncGenerator<string | null>): Promise<string[] | undefined> {
  const texts: string[] = []
  for (;;) {
    const { value, done } = await packets.next()
    if (done) return undefined
    if (value === null) return texts
    texts.push(value)
  }
}

/** Each pkt-line as text; null for a flush. */
async function* readPackets(channel: Socket): AsyncGenerator<string | null> {
  const packets = new Packets()
  for await (const chunk of channel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
    for (const packet of packets.push(chunk)) yield isFlush(packet) ? null : textOf(packet)
}
