import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import type { Exit } from '../../git/runner/protocol.ts'
import type { Transfer } from '../../git/transfer/transfer.ts'
import { Failure } from '../../kernel/failure.ts'
import { gatherWrites } from './gather.ts'

/** One command of a client: where its bytes go, until it is gone. */
export type Call = {
  readonly channel: ServerChannel
  /** Carries this and all other commands of the connection. */
  readonly socket: Socket
  /** The client has hung up. */
  readonly gone: AbortSignal
  /** `GIT_PROTOCOL` as the client sent it. */
  readonly protocol: string | undefined
  /** A client that neither speaks nor listens for so long is cut off. */
  readonly stalledMs: number
}

const hungUp = () => new Error('the client has hung up')

/** Resolves when there is room for more: in the client's window, and in the connection, which has none of its own. */
export async function send({ channel, socket, gone, stalledMs }: Call, chunk: Buffer | string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onGone = () => reject(hungUp())
  if (gone.aborted) throw hungUp()
  gone.addEventListener('abort', onGone)
  const stalled = setTimeout(() => socket.destroy(), stalledMs)
  channel.write(chunk, () => resolve())
  try {
    await promise
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal: gone })
  } finally {
    clearTimeout(stalled)
    gone.removeEventListener('abort', onGone)
  }
}

/** A sentence for the person, beside git's own conversation. */
export const say = ({ channel }: Call, text: string): void => void channel.stderr.write(`Stithy: ${text}\n`)

/** Lets client and git talk, each only as fast as the other listens. Resolves when git has ended, whoever hung up. */
export async function relay(call: Call, { stream, done }: Transfer): Promise<Exit> {
  const { channel, gone } = call
  const end = () => stream.destroy()
  gone.addEventListener('abort', end)
  if (gone.aborted) end()
  // Git hands its client pieces of 8 KB, and each is a packet: one by one they would wake the process that reads them.
  gatherWrites(stream)
  channel.pipe(stream)
  try {
    // Its end comes before the process's: destroying it then would make a signal of the exit.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) await send(call, chunk as Buffer)
  } catch (error) {
    if (error instanceof Failure) say(call, error.message)
    end()
  } finally {
    gone.removeEventListener('abort', end)
  }
  try {
    return await done
  } finally {
    channel.unpipe(stream)
    stream.destroy()
  }
}
