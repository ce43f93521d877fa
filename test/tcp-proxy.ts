import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on this machine that can hold connections: they are accepted, and no byte passes. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  readonly #held = new Set<() => void>()
  #accepted = 0
  #isFrozen = false
  /** Bytes of clients until it freezes. */
  #untilFrozen = Number.POSITIVE_INFINITY
  #holds: (ordinal: number) => boolean = () => false

  private constructor(server: ReturnType<typeof createServer>, port: number) {
    this.#server = server
    this.port = port
  }

  /** `to` is a socket path or a port of this machine. */
  static async start(to: string | number): Promise<TcpProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new TcpProxy(server, (server.address() as { port: number }).port)
    server.on('connection', (client) => proxy.#take(client, to))
    return proxy
  }

  /** Number of connections so far. */
  get accepted(): number {
    return this.#accepted
  }

  /** Number of open connections of clients. */
  get open(): number {
    return this.#sockets.size / 2
  }

  /** From now on, holds the connections for which this returns true; the first is 1. */
  hold(which: (ordinal: number) => boolean): void {
    this.#holds = which
  }

  /** Lets everything pass, held and frozen connections included. */
  release(): void {
    this.#isFrozen = false
    this.#untilFrozen = Number.POSITIVE_INFINITY
    this.#holds = () => false
    for (const socket of this.#sockets) socket.resume()
    for (const pass of this.#held) pass()
    this.#held.clear()
  }

  /** Stops all traffic, also of new connections, without closing any: like a network that loses every packet. */
  freeze(): void {
    this.hold(() => true)
    this.#isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Freezes when clients have sent about this number of bytes from now on. */
  freezeAfter(bytes: number): void {
    this.#untilFrozen = bytes
  }

  #take(client: Socket, to: string | number): void {
    this.#accepted++
    this.#track(client)
    const pass = () => {
      if (client.destroyed) return
      const server = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to)
      this.#track(server)
      client.on('data', (chunk) => this.#count(chunk.length))
      this.#forward(client, server)
      this.#forward(server, client)
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
    }
    if (this.#holds(this.#accepted)) this.#held.add(pass)
    else pass()
  }

  #count(bytes: number): void {
    this.#untilFrozen -= bytes
    if (this.#untilFrozen > 0) return
    this.#untilFrozen = Number.POSITIVE_INFINITY
    this.freeze()
  }

  /** As a pipe, except that a frozen socket stays paused when the other side has drained. */
  #forward(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => {
      if (!this.#isFrozen) from.resume()
    })
    from.on('end', () => to.end())
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
