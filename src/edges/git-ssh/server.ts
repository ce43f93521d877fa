import { once } from 'node:events'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { networkOf } from '../../access/share-key.ts'
import { observeSshConnection } from '../http/metrics.ts'
import { signIn } from './authenticate.ts'
import { SignedIn } from './connection.ts'
import { ConnectionLimiter } from './connection-limiter.ts'
import type { SshContext } from './context.ts'
import { gatherWrites } from './gather.ts'
import { offerLate } from './late-offer.ts'
import { type SshLimits, sshLimits } from './limits.ts'
import { takeRightGuesses, useKeyObjects } from './ssh2-internals.ts'

/**
 * Algorithms that Node implements natively, fastest first. No compression, because packs are compressed already. No SHA-1.
 * Unauthenticated clients choose the key exchange, and larger groups would block the event loop for 3 to 16 ms.
 */
const algorithms: ssh2.Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'diffie-hellman-group14-sha256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}

/** Disconnects a client that does not respond for three minutes. */
const keepalive = { keepaliveInterval: 30_000, keepaliveCountMax: 6 }

/** Git over SSH: authenticates by key, runs commands with the same policy and the same streams as over HTTP. */
export class SshServer implements AsyncDisposable {
  readonly #sockets: Server
  /** Unauthenticated connections, grouped by address. */
  readonly #unauthenticated: ConnectionLimiter
  /** Idle connections, grouped by key. */
  readonly #idle: ConnectionLimiter
  /** Sockets during the handshake, by address and port, by which the library identifies them. */
  readonly #arriving = new Map<string, Socket>()
  readonly #open = new Set<Socket>()
  readonly #signedIn = new Set<SignedIn>()

  constructor(hostKeys: string[], context: SshContext, limits: Partial<SshLimits> = {}) {
    const all = { ...sshLimits, ...limits }
    this.#unauthenticated = new ConnectionLimiter(all.maxUnauthenticated, all.signInMs)
    this.#idle = new ConnectionLimiter(all.maxIdle, all.idleMs)
    const protocol = new ssh2.Server(
      { hostKeys, ident: 'Stithy', algorithms, ...keepalive },
      (connection, { ip, port }) => this.#welcome(connection, this.#arriving.get(`${ip} ${port}`), context, all),
    )
    this.#sockets = createServer({ noDelay: true }, (socket) => {
      const { remoteAddress, remotePort } = socket
      // Disconnected already.
      if (remoteAddress === undefined) return void socket.destroy()
      const name = `${remoteAddress} ${remotePort}`
      this.#open.add(socket)
      observeSshConnection(1)
      this.#arriving.set(name, socket)
      socket.once('close', () => {
        this.#open.delete(socket)
        observeSshConnection(-1)
        this.#unauthenticated.remove(socket)
        if (this.#arriving.get(name) === socket) this.#arriving.delete(name)
      })
      gatherWrites(socket)
      offerLate(socket)
      this.#unauthenticated.add(socket, networkOf(remoteAddress), () => socket.destroy())
      protocol.injectSocket(socket)
    })
  }

  /** Rejects if the address is in use. Workers of a cluster share it. */
  async listen(address: ListenOptions): Promise<void> {
    this.#sockets.listen(address)
    await once(this.#sockets, 'listening')
  }

  /** Accepts no more connections; running commands may finish within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#sockets.close(() => resolve()))
    for (const client of this.#signedIn) client.close()
    for (const socket of this.#arriving.values()) socket.destroy()
    const hurry = setTimeout(() => this.#cutOff(), graceMs)
    await closed
    clearTimeout(hurry)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#cutOff()
    return this.stop(0)
  }

  #cutOff(): void {
    for (const socket of this.#open) socket.destroy()
  }

  #welcome(connection: ssh2.Connection, socket: Socket | undefined, context: SshContext, limits: SshLimits): void {
    // Clients disconnect in many ways; none is an error of the server.
    connection.on('error', () => socket?.destroySoon())
    if (!socket) return void connection.end()
    takeRightGuesses(connection)
    useKeyObjects(connection)
    const holder = signIn(connection, context, limits, socket.remoteAddress)
    connection.once('ready', async () => {
      this.#unauthenticated.remove(socket)
      this.#arriving.delete(`${socket.remoteAddress} ${socket.remotePort}`)
      const client = new SignedIn(connection, socket, await holder, context, { limits, idle: this.#idle })
      this.#signedIn.add(client)
      socket.once('close', () => this.#signedIn.delete(client))
    })
  }
}
