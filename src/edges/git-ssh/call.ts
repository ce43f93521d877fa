import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ServerChannel } from 'ssh2'
import type { Exit } from '../../git/runner/protocol.ts'
import { giveBack } from '../../git/sharing/block-pool.ts'
import type { Transfer } from '../../git/transfer/transfer.ts'
import { Failure } from '../../kernel/failure.ts'
import { type BodyPace, PaceBudget } from '../http/body/pace.ts'
import { gatherWrites } from './gather.ts'

/** One command of a client and its channel. */
export type Call = {
  readonly channel: ServerChannel
  /** The socket carries all commands of the connection. */
  readonly socket: Socket
  /** Aborts when the client closes the channel. */
  readonly signal: AbortSignal
  /** `GIT_PROTOCOL` as the client sent it. */
  readonly protocol: string | undefined
  /** Maximum time without progress, in milliseconds; then the connection is closed. */
  readonly stalledMs: number
  /** Minimum speed of the client while it sends. */
  readonly pace: BodyPace
}

const hungUp = () => new Error('the client has hung up')

/**
 * Sends a chunk. Resolves when there is room for more, in the client's window and in the socket, which has no flow control per
 * channel.
 */
export async function send({ channel, socket, signal, stalledMs }: Call, chunk: Buffer | string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onAbort = () => reject(hungUp())
  if (signal.aborted) throw hungUp()
  signal.addEventListener('abort', onAbort)
  const stalled = setTimeout(() => socket.destroy(), stalledMs)
  channel.write(chunk, () => resolve())
  try {
    await promise
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal })
  } finally {
    clearTimeout(stalled)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Sends a message for the user to stderr, beside git's protocol. */
export const sendMessage = ({ channel }: Call, text: string): void => void channel.stderr.write(`Stithy: ${text}\n`)

/**
 * Calls `tooSlow` once when the client sends at less than its pace. Only the time counts after which it does send more, since the last byte in
 * either direction: a client that waits for git, or git that takes no more, is not slow. What sends nothing is `stalledMs`' matter.
 */
function watchPace({ channel, pace }: Call, stream: Duplex, tooSlow: () => void) {
  const budget = new PaceBudget(pace)
  let last = performance.now()
  const moved = () => {
    last = performance.now()
  }
  const stop = () => {
    channel.off('data', count)
    stream.off('drain', moved)
  }
  const count = (chunk: Buffer) => {
    const isFast = budget.add(chunk.length, performance.now() - last)
    moved()
    if (isFast) return
    stop()
    // Once git's input has these bytes, too.
    queueMicrotask(tooSlow)
  }
  channel.on('data', count)
  stream.on('drain', moved)
  return { moved, stop }
}

/**
 * Relays between client and git with back-pressure. Resolves when git has ended, even if the client disconnected. A push then sees
 * the end of its input and ends by itself, as over HTTP: a killed git would leave its quarantine behind.
 */
export async function relay(call: Call, { stream, done }: Transfer, isPush = false): Promise<Exit> {
  const { channel, signal } = call
  const end = () => {
    if (!isPush) return void stream.destroy()
    channel.unpipe(stream)
    stream.end()
    stream.resume()
  }
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  // Git reads its input in pieces of 8 KB, one per packet; writing them one by one would wake the reading process for each.
  gatherWrites(stream)
  const watch = watchPace(call, stream, () => {
    sendMessage(call, 'The connection is too slow.')
    end()
  })
  channel.pipe(stream)
  try {
    // The stream ends before the process; destroying it then would turn the exit code into a signal.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      await send(call, chunk as Buffer)
      // It was copied into packets.
      giveBack(chunk as Buffer)
      watch.moved()
    }
  } catch (error) {
    if (error instanceof Failure) sendMessage(call, error.message)
    end()
  } finally {
    signal.removeEventListener('abort', end)
  }
  try {
    return await done
  } finally {
    watch.stop()
    channel.unpipe(stream)
    stream.destroy()
  }
}
