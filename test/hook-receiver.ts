import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './waiting.ts'

export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: any
}

/** Answers a request, or leaves it open. */
export type Answering = (received: Received, response: ServerResponse) => void

const accept: Answering = (_received, response) => void response.writeHead(200).end('ok')

/** A real HTTP server that receives hooks. */
export class HookReceiver implements AsyncDisposable {
  readonly received: Received[] = []
  answering: Answering = accept
  readonly #server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const one = { path, headers, text, json: text === '' ? undefined : JSON.parse(text) }
      this.received.push(one)
      this.answering(one, response)
    })
  })
  #port = 0
  readonly #host: string

  constructor(host: string) {
    this.#host = host
  }

  /** On an address of this machine; receivers on several are several hosts for the service. */
  static async start(host = '127.0.0.1'): Promise<HookReceiver> {
    const receiver = new HookReceiver(host)
    await receiver.listen()
    return receiver
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, this.#host, resolve))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Refuses connections until `listen`. */
  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get url(): string {
    return `http://${this.#host}:${this.#port}/receive`
  }

  /** Resolves with the first request that fits. */
  request(fits: (received: Received) => boolean): Promise<Received> {
    return eventually(() => {
      const found = this.received.find(fits)
      if (!found)
        throw new Error(`no such request: ${this.received.map(({ json }) => json.event_name ?? json.object_kind)}`)
      return found
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close().catch(() => {})
  }
}
