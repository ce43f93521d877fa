import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Connection, ServerChannel, Session } from 'ssh2'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { Failure } from '../../kernel/failure.ts'
import { findKeyHolder, type KeyHolder, keyRefusal } from '../../modules/accounts/index.ts'
import { logFault } from '../http/failures.ts'
import { observeGit } from '../http/metrics.ts'
import { type Call, sendMessage } from './call.ts'
import { parseCommand } from './command.ts'
import type { ConnectionLimiter } from './connection-limiter.ts'
import type { SshContext } from './context.ts'
import type { SshLimits } from './limits.ts'
import { serve } from './serve.ts'
import { packetBytesOf } from './ssh2-internals.ts'

/** Limits of memory: a client that exceeds its window, or does not read the output, is disconnected. */
const maxUnreadBytes = 8 * 1024 * 1024
const maxUnsentBytes = 64 * 1024 * 1024

/** Clients take packets of 32 KB. With a few bytes each, every output would occupy the process for seconds. */
const minPacketBytes = 512

/** Maximum sessions of a connection that end without a command: the library keeps them until the connection ends. */
const maxUnusedSessions = 100

/** An authenticated connection: runs the client's commands until it disconnects or is idle for too long. */
export class SignedIn {
  readonly #connection: Connection
  readonly #socket: Socket
  readonly #sha256: string
  readonly #context: SshContext
  readonly #limits: SshLimits
  readonly #idle: ConnectionLimiter
  readonly #remoteAddress: string | undefined
  readonly #disconnected = new AbortController()
  readonly #channels = new Set<ServerChannel>()
  #sessions = 0
  #unusedSessions = 0
  #closing = false

  constructor(
    connection: Connection,
    socket: Socket,
    sha256: string,
    context: SshContext,
    { limits, idle }: { limits: SshLimits; idle: ConnectionLimiter },
  ) {
    this.#connection = connection
    this.#socket = socket
    this.#sha256 = sha256
    this.#context = context
    this.#limits = limits
    this.#idle = idle
    this.#remoteAddress = socket.remoteAddress
    connection.on('session', (accept, reject) => {
      if (this.#closing || this.#sessions >= limits.maxSessions) return reject()
      const session = accept()
      if (packetBytesOf(session) < minPacketBytes) return void connection.end()
      this.#open(session)
    })
    socket.on('data', () => this.#isFlooded() && socket.destroy())
    socket.once('close', () => {
      idle.remove(socket)
      this.#disconnected.abort()
    })
    this.#closeIfIdle()
  }

  /** Accepts no more commands, and ends the connection when the running ones have finished. */
  close(): void {
    this.#closing = true
    this.#endIfDone()
  }

  #open(session: Session): void {
    let protocol: string | undefined
    let isUsed = false
    const closed = new AbortController()
    this.#sessions++
    // The library says so for each message of the client that closes it.
    session.once('close', () => {
      this.#sessions--
      closed.abort()
      if (!isUsed && ++this.#unusedSessions > maxUnusedSessions) this.#connection.end()
      this.#endIfDone()
    })
    session.on('env', (accept, reject, { key, val }) => {
      if (key !== 'GIT_PROTOCOL') return reject?.()
      protocol = val
      accept?.()
    })
    const call = (channel: ServerChannel): Call => ({
      channel,
      socket: this.#socket,
      signal: AbortSignal.any([closed.signal, this.#disconnected.signal]),
      protocol,
      stalledMs: this.#limits.stalledMs,
      pace: this.#limits.pace,
    })
    // A session has one command: the library accepts no further one, and returns nothing for it, contrary to its types.
    const run = (accept: () => ServerChannel | undefined, command?: string) => {
      const channel = accept()
      isUsed = true
      if (channel) void this.#run(call(channel), command)
    }
    session.on('exec', (accept, _reject, { command }) => run(accept, command))
    session.on('shell', (accept) => run(accept))
  }

  async #run(call: Call, text: string | undefined): Promise<void> {
    const { channel } = call
    const began = performance.now()
    const end = this.#context.activity.begin('transfers')
    this.#idle.remove(this.#socket)
    this.#channels.add(channel)
    // Errors of a channel show as its end.
    channel.on('error', () => {})
    channel.stderr.on('error', () => {})
    const status = await this.#answer(call, text, began)
    end()
    if (!call.signal.aborted) {
      channel.exit(status)
      channel.end()
    }
    // Discards the rest of the input, which would delay the end of the channel.
    channel.resume()
    this.#channels.delete(channel)
    if (this.#channels.size === 0) this.#closeIfIdle()
  }

  /** Only after the client has received the exit status of its last command. */
  #endIfDone(): void {
    if (this.#closing && this.#sessions === 0) this.#connection.end()
  }

  /**
   * Runs the command and returns its exit status. Looks up the owner of the key again: since authentication the user may have
   * been blocked, or the key removed.
   */
  async #answer(call: Call, text: string | undefined, began: number): Promise<number> {
    const { db, log, open } = this.#context
    const command = parseCommand(text)
    const requestId = randomUUID()
    let holder: KeyHolder | undefined
    const remoteAddress = this.#remoteAddress
    const refuse = (reason: string, text: string) => {
      logFailedSignIn(log, { transport: 'ssh', reason, remoteAddress })
      sendMessage(call, text)
    }
    let status = 1
    try {
      holder = await findKeyHolder(db, this.#sha256)
      if (!holder) refuse('key_removed', 'This key is no longer registered.')
      else if ('refused' in holder) refuse('account_refused', holder.refused)
      else {
        const { name, keyId } = holder
        const ctx = await open(holder.actor, remoteAddress)
        const refused = keyRefusal(holder.key, ctx.settings)
        const reopen = async () => {
          const now = await findKeyHolder(db, this.#sha256)
          return now && 'actor' in now ? open(now.actor, remoteAddress) : undefined
        }
        if (refused === undefined)
          status = await serve(call, command, { name, keyId, ctx, reopen }, this.#context.answersToPush)
        else refuse('key_restricted', refused)
      }
    } catch (error) {
      const isRefused = error instanceof Failure
      if (isRefused || !call.signal.aborted) {
        logFault(log, error, { command: command.kind, request_id: requestId }, 'git over SSH failed')
        sendMessage(call, isRefused ? error.message : 'Internal server error.')
      }
    }
    const name = command.kind === 'transfer' ? command.service : command.kind
    const actor = holder && 'actor' in holder ? holder.actor : undefined
    const seconds = (performance.now() - began) / 1000
    observeGit(command.kind === 'transfer' ? command.service : 'other', 'ssh', status === 0, seconds)
    log.info(
      {
        command: name,
        ...(command.kind === 'transfer' && { path: command.path }),
        status,
        duration_ms: Math.round(seconds * 1e6) / 1e3,
        remote_address: remoteAddress,
        request_id: requestId,
        ...(holder && { 'key.id': holder.keyId }),
        ...(actor && { 'user.id': actor.id, user: actor.username }),
      },
      'ssh command',
    )
    return status
  }

  #closeIfIdle(): void {
    if (this.#disconnected.signal.aborted) return
    this.#idle.add(this.#socket, this.#sha256, () => {
      this.#connection.end()
      // Even if the client does not close its side.
      this.#socket.destroySoon()
    })
  }

  #isFlooded(): boolean {
    if (this.#socket.writableLength > maxUnsentBytes) return true
    for (const channel of this.#channels) if (channel.readableLength > maxUnreadBytes) return true
    return false
  }
}
