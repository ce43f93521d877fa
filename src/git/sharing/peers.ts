import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { isRunning } from '../../kernel/running.ts'
import { cutOff, type Exit, endedWell } from '../runner/protocol.ts'
import { giveBack } from './block-pool.ts'
import type { ResponseReader, Source } from './shared-response.ts'

/** A reader of the response with this key, once it is being written, for the process with this id; `gone` resolves when that no longer waits for it. */
export type FindForPeer = (key: string, asker: number, gone: Promise<void>) => Promise<ResponseReader | undefined>

/** A process that does not acknowledge within this time is stopped or hangs. */
const acknowledgeTimeoutMs = 1_000
/** One that does not answer within this time has a caller who waits for a slot. */
const answerWithinMs = 5_000
/** Without traffic for this time, a connection has no use: git reports at least every five seconds that it works. */
const idleMs = 60_000
const maxQuestionBytes = 1024
const acknowledged = '.'
const yes = '+'

/**
 * Responses of the other server processes of this machine. A process that needs one asks them before it starts git, over unix sockets in a folder that
 * only the user of the service may enter. The question is a line with the id of the process and the key. The other one writes a '.' at once; its answer
 * is a '+' and then frames, each a length of four bytes and as many bytes of the response; one of length 0 ends a complete response. Whatever else ends the connection, the asker starts git.
 */
export class Peers implements AsyncDisposable {
  readonly #folder: string
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async listen(folder: string, find: FindForPeer): Promise<Peers> {
    const peers = new Peers(folder)
    const server = peers.#server
    const path = pathOf(folder, process.pid)
    await rm(path, { force: true })
    server.on('connection', (socket) => void peers.#answer(socket, find)).listen(path)
    await once(server, 'listening')
    // Too many open files, for example. The asker is not answered then.
    server.on('error', () => {}).unref()
    return peers
  }

  /**
   * The response with this key of another process that writes it, or has just written it. Calls `listed` with the ids of those that will be asked, from
   * which each is removed once it has none.
   */
  async find(
    key: string,
    signal: AbortSignal,
    listed: (toAsk: ReadonlySet<number>) => void,
  ): Promise<Source | undefined> {
    const names = await readdir(this.#folder)
    const pids = names.map((name) => Number(socketName.exec(name)?.[1])).filter((pid) => pid > 0 && pid !== process.pid)
    const toAsk = new Set(pids)
    listed(toAsk)
    for (const pid of toAsk) {
      const found = await this.#ask(pid, key, signal)
      if (found) return found
      toAsk.delete(pid)
    }
    return undefined
  }

  async #ask(pid: number, key: string, signal: AbortSignal): Promise<Source | undefined> {
    const path = pathOf(this.#folder, pid)
    const socket = this.#track(createConnection({ path, signal }))
    socket.setTimeout(acknowledgeTimeoutMs)
    socket.write(`${process.pid} ${key}\n`)
    if ((await nextByte(socket)) === acknowledged) {
      socket.setTimeout(answerWithinMs)
      if ((await nextByte(socket)) === yes) return new PeerResponse(socket)
    }
    socket.destroy()
    // A process that was killed leaves its socket.
    if (!isRunning(pid)) await rm(path, { force: true })
    return undefined
  }

  async #answer(connection: Socket, find: FindForPeer): Promise<void> {
    const socket = this.#track(connection)
    let reader: ResponseReader | undefined
    const leave = () => reader?.leave()
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    void gone.then(leave)
    socket.write(acknowledged)
    try {
      const [asker, key] = (await lineOf(socket)).split(' ')
      reader = await find(key ?? '', Number(asker), gone)
      if (!reader || socket.destroyed) return
      socket.write(yes)
      for (let part = await reader.next(); !socket.destroyed; part = await reader.next()) {
        if (!Buffer.isBuffer(part)) {
          if (part.code === 0) socket.end(lengthBytes(0))
          return
        }
        await send(socket, part)
      }
    } catch {
      // The asker starts git.
    } finally {
      leave()
      if (!socket.writableEnded) socket.destroy()
    }
  }

  #track(socket: Socket): Socket {
    this.#sockets.add(socket)
    socket.setTimeout(idleMs)
    socket.on('timeout', () => socket.destroy())
    socket.once('close', () => this.#sockets.delete(socket))
    return socket.on('error', () => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const socketName = /^fetches\.(\d+)\.sock$/
const pathOf = (folder: string, pid: number): string => join(folder, `fetches.${pid}.sock`)

/** The first line, which is all that an asker sends. */
async function lineOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1')
    if (text.endsWith('\n') || text.length > maxQuestionBytes) break
  }
  return text.trimEnd()
}

/** `undefined` if the connection ends before. */
async function nextByte(socket: Socket): Promise<string | undefined> {
  let byte: Buffer | null = socket.read(1)
  while (!byte && !socket.closed && !socket.readableEnded) {
    await new Promise<void>((resolve) => {
      const go = () => {
        socket.off('close', go).off('readable', go)
        resolve()
      }
      socket.on('close', go).on('readable', go)
    })
    byte = socket.read(1)
  }
  return byte?.toString('latin1')
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

/** Resolves when there is room for more, or when the connection is closed. */
function send(socket: Socket, part: Buffer): Promise<void> {
  socket.cork()
  socket.write(lengthBytes(part.length))
  return new Promise((resolve) => {
    socket.write(part, () => {
      giveBack(part)
      resolve()
    })
    socket.uncork()
  })
}

class PeerResponse implements Source {
  readonly done: Promise<Exit>
  readonly #end = Promise.withResolvers<Exit>()
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    this.done = this.#end.promise
    socket.setTimeout(idleMs)
  }

  get readableLength(): number {
    return this.#socket.readableLength
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let isComplete = false
    try {
      let bytes: Buffer = Buffer.alloc(0)
      /** Bytes of the frame that are still to come. */
      let rest = 0
      for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
        while (!isComplete && bytes.length >= (rest > 0 ? 1 : 4)) {
          if (rest === 0) {
            rest = bytes.readUInt32BE()
            isComplete = rest === 0
            bytes = bytes.subarray(4)
            continue
          }
          const part = bytes.subarray(0, rest)
          rest -= part.length
          bytes = bytes.subarray(part.length)
          yield part
        }
      }
    } catch {
      // The process has ended, or hangs.
    } finally {
      this.#socket.destroy()
      this.#end.resolve(isComplete ? endedWell : cutOff)
    }
  }
}
