import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ForgeData } from './data.ts'
import { type Dialect, dialects, type ForgeName } from './dialects.ts'
import type { ForgeGit } from './repository.ts'

/** An answer that a test chooses. */
export type Chosen = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export const forgeToken = 'token-of-the-forge'

/** A server that answers as GitHub or Gitea do, with a repository `ann/code` behind it. */
export class FakeForge {
  readonly name: ForgeName
  readonly data: ForgeData
  readonly repository: ForgeGit
  /** Paths and queries of the API that were asked for, in their order. */
  readonly asked: string[] = []
  /** Headers of all requests. */
  readonly headers: IncomingMessage['headers'][] = []
  /** Answers in place of the forge; undefined leaves it to the forge. */
  choose: (path: string, count: number) => Chosen | undefined = () => undefined
  /** Called before each answer. */
  before: (path: string) => Promise<void> = async () => {}
  readonly #server: Server
  readonly #dialect: Dialect

  private constructor(name: ForgeName, data: ForgeData, repository: ForgeGit) {
    this.name = name
    this.data = data
    this.repository = repository
    this.#dialect = dialects[name]
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.statusCode = 500
        response.end(String(error))
      })
    })
  }

  static async start(name: ForgeName, data: ForgeData, repository: ForgeGit): Promise<FakeForge> {
    const forge = new FakeForge(name, data, repository)
    forge.#server.listen(0, '127.0.0.1')
    await once(forge.#server, 'listening')
    return forge
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers)
    const url = new URL(request.url!, this.origin)
    if (!url.pathname.startsWith('/ann/')) this.asked.push(request.url!)
    await this.before(request.url!)
    const chosen = this.choose(request.url!, this.asked.length)
    if (chosen) {
      response.writeHead(chosen.status ?? 200, { 'content-type': 'application/json', ...chosen.headers })
      return void response.end(chosen.body ?? '[]')
    }
    if (url.pathname.startsWith('/ann/')) return this.#git(request, response, url)
    const found = this.#dialect.find(this, url)
    if (request.headers.authorization !== this.#dialect.authorization) {
      response.writeHead(401)
      return void response.end('{"message":"Bad credentials"}')
    }
    response.setHeader('content-type', 'application/json')
    if (found === undefined) {
      response.writeHead(404)
      return void response.end('{"message":"Not Found"}')
    }
    if (!Array.isArray(found)) return void response.end(JSON.stringify(found))
    const size = Math.min(Number(url.searchParams.get(this.#dialect.sizeParam) ?? 30), this.#dialect.maxSize)
    const page = Number(url.searchParams.get('page') ?? 1)
    const last = Math.max(1, Math.ceil(found.length / size))
    const link = (to: number, rel: string): string => {
      const at = new URL(url)
      at.searchParams.set('page', String(to))
      return `<${at.href}>; rel="${rel}"`
    }
    if (page < last) response.setHeader('link', [link(page + 1, 'next'), link(last, 'last')].join(', '))
    response.end(JSON.stringify(found.slice((page - 1) * size, page * size)))
  }

  async #git(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const expected = `Basic ${Buffer.from(`x-oauth-basic:${forgeToken}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' })
      return void response.end()
    }
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.repository.folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-encoding'] && { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }),
        ...(request.headers['git-protocol'] && { GIT_PROTOCOL: String(request.headers['git-protocol']) }),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    request.pipe(child.stdin)
    child.stdin.on('error', () => {})
    const chunks: Buffer[] = []
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) chunks.push(chunk)
    const output = Buffer.concat(chunks)
    const end = output.indexOf('\r\n\r\n')
    for (const line of output.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/)
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.end(output.subarray(end + 4))
  }
}
