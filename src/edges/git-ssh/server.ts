import { once } from 'node:events'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import ssh2 from 'ssh2'
import { signIn } from './authenticate.ts'
import { SignedIn } from './connection.ts'
import type { SshDoors } from './doors.ts'
import { gatherWrites } from './gather.ts'
import { offerLate } from './late-offer.ts'
import { type SshLimits, sshLimits } from './limits.ts'
import { useKeyObjects } from './ssh2-internals.ts'
import { WaitingRoom } from './waiting-room.ts'

/**
 * Ciphers that Node runs in native code, the quickest first. Packing is git's work, so nothing is compressed. What is left
 * of SHA-1 is left out. Strangers choose how keys are exchanged, and the larger groups cost us 3 to 16 ms of the one thread.
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

/** A client that is silent for three minutes, though we ask, is gone. */
const keepalive = { keepaliveInterval: 30_000, keepaliveCountMax: 6 }

/** Git over SSH: show a key, say a command, and the same policy and the same streams as over HTTP. */
export class SshServer implements AsyncDisposable {
  readonly #sockets: Server
  /** Those who have not shown a key, crowding by address. */
  readonly #strangers: WaitingRoom
  /** Those on whose connection nothing runs, crowding by key. */
  readonly #idle: WaitingRoom
  /** Those whose handshake is under way, by address and port, which is how the library names them. */
  readonly #arriving = new Map<string, Socket>()
  readonly #open = new Set<Socket>()
  readonly #signedIn = new Set<SignedIn>()

  constructor(hostKey: string, doors: SshDoors, limits: Partial<SshLimits> = {}) {
    const all = { ...sshLimits, ...limits }
    this.#strangers = new WaitingRoom(all.strangers, all.signInMs)
    this.#idle = new WaitingRoom(all.idle, all.idleMs)
    const protocol = new ssh2.Server(
      { hostKeys: [hostKey], ident: 'Stithy', algorithms, ...keepalive },
      (connection, { ip, port }) => this.#welcome(connection, this.#arriving.get(`${ip} ${port}`), doors, all),
    )
    this.#sockets = createServer({ noDelay: true }, (socket) => {
      const { remoteAddress, remotePort } = socket
      // Gone before we could look.
      if (remoteAddress === undefined) return void socket.destroy()
      const name = `${remoteAddress} ${remotePort}`
      this.#open.add(socket)
      this.#arriving.set(name, socket)
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#strangers.leave(socket)
        if (this.#arriving.get(name) === socket) this.#arriving.delete(name)
      })
      gatherWrites(socket)
      offerLate(socket)
      this.#strangers.enter(socket, remoteAddress, () => socket.destroy())
      protocol.injectSocket(socket)
    })
  }

  /** Rejects when the address is taken. Workers of one cluster share it. */
  async listen(address: ListenOptions): Promise<void> {
    this.#sockets.listen(address)
    await once(this.#sockets, 'listening')
  }

  /** Takes nothing new; commands that run may finish, for at most `graceMs`. */
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

  #welcome(connection: ssh2.Connection, socket: Socket | undefined, doors: SshDoors, limits: SshLimits): void {
    // Clients break off in many ways, none of which is ours to mend.
    connection.on('error', () => socket?.destroySoon())
    if (!socket) return void connection.end()
    useKeyObjects(connection)
    const holder = signIn(connection, doors, limits, socket.remoteAddress)
    connection.once('ready', async () => {
      this.#strangers.leave(socket)
      this.#arriving.delete(`${socket.remoteAddress} ${socket.remotePort}`)
      const client = new SignedIn(connection, socket, await holder, doors, { limits, idle: this.#idle })
      this.#signedIn.add(client)
      socket.once('close', () => this.#signedIn.delete(client))
    })
  }
}
