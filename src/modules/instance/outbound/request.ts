import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import { isDiskFull } from '../../../kernel/full-disk.ts'
import { storable } from '../../../kernel/storable.ts'
import { type Destination, type GuardRules, guardUrl, isPinned, type Resolve } from './guard.ts'
import { credentialsOf } from './url.ts'

/** Bytes that are too many for memory. A redirect opens them again. A failure to read them is thrown as it is. */
export type StreamedBody = { readonly sizeBytes: number; open(): Promise<Readable> }

/** A request on a user's behalf. */
export type OutboundRequest = {
  readonly url: string
  readonly rules: GuardRules
  readonly headers: Readonly<Record<string, string>>
  /** Headers that only the host of `url` gets, not one that it redirects to. */
  readonly secretHeaders?: Readonly<Record<string, string>>
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT' | 'GET'
  /** Of a POST or PUT. */
  readonly body?: string | Buffer | StreamedBody
  /**
   * Reads the body of a response with a status below 300; without it, only the first characters are read. Failures of this service, such as a full
   * disk, are thrown as they are.
   */
  readonly receive?: (body: Readable) => Promise<void>
  /** Names of response headers that are returned whole. Others are cut, and only the first are returned. */
  readonly wholeHeaders?: readonly string[]
  readonly verifiesTls: boolean
  /** For the whole request, redirects and response included. */
  readonly timeoutMs: number
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** What is read of a response. */
export type OutboundResponse = {
  readonly status: number
  /** The text beside the status. */
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  /** The first characters of the body. */
  readonly body: string
}

/** The request was not sent, or has no response. The message is safe to show: it contains no URL. */
export class OutboundFailure extends Error {
  override name = 'OutboundFailure'
}

/** Reading the body that is sent failed, which is no fault of the receiver. */
class UnreadableBody extends Error {
  constructor(cause: unknown) {
    super('the body cannot be read', { cause })
  }
}

const maxRedirects = 5
/** Bytes of a response that are read; the connection is closed after them. */
const maxBodyBytes = 1024
const maxHeaders = 40
const maxHeaderLength = 300
/** Bytes of all headers of a response; Node refuses more. */
const maxHeaderBytes = 16 * 1024
/** Response headers with secrets, which are not returned. */
const secretResponseHeaders: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'www-authenticate'])

/**
 * Sends a request to a URL of a user: the SSRF guard checks the URL and every redirect, and the request connects to the checked address
 * only. User name and password in the URL are sent as Basic credentials. Throws `OutboundFailure` without a response, and failures of this service as
 * they are.
 */
export async function sendOutbound(
  ctx: Pick<Ctx, 'settings' | 'site'>,
  request: OutboundRequest,
  resolve?: Resolve,
): Promise<OutboundResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout
  try {
    return await follow(ctx, request, signal, resolve)
  } catch (error) {
    if (error instanceof UnreadableBody) throw error.cause
    if (error instanceof OutboundFailure || error instanceof Failure || isDiskFull(error)) throw error
    throw new OutboundFailure(timeout.aborted ? 'Timeout' : messageOf(error))
  }
}

async function follow(
  ctx: Pick<Ctx, 'settings' | 'site'>,
  request: OutboundRequest,
  signal: AbortSignal,
  resolve: Resolve | undefined,
): Promise<OutboundResponse> {
  const first = new URL(request.url)
  let url = request.url
  let method: Method = request.method ?? 'POST'
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const target = await abortable(guardUrl(ctx, url, request.rules, resolve), signal)
    if ('blocked' in target) throw new OutboundFailure(`The address is blocked: ${target.blocked}`)
    if (target.addresses.length === 0) throw new OutboundFailure('Could not resolve the host')
    const response = await exchange(ctx, target, { request, method, trusted: isSameHost(first, target.url) }, signal)
    const location = isRedirect(response.status) ? response.location : undefined
    if (location === undefined) return response.read
    const next = URL.parse(location, target.url.href)
    if (!next) throw new OutboundFailure('The redirect leads to an invalid URL')
    // 303 says that the request was accepted, and where its result is. Other redirects repeat it, body included.
    if (response.status === 303) method = 'GET'
    url = next.href
  }
  throw new OutboundFailure('Too many redirects')
}

/** DNS cannot be aborted; its result is ignored then. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

/** Whether secrets for the first URL may be sent to another: the host is the same, and the connection no less protected. */
const isSameHost = (first: URL, now: URL): boolean =>
  first.origin === now.origin ||
  (first.hostname === now.hostname && first.port === '' && now.port === '' && now.protocol === 'https:')

type Method = 'POST' | 'PUT' | 'GET'

type Exchange = { readonly request: OutboundRequest; readonly method: Method; readonly trusted: boolean }

type Answer = { readonly status: number; readonly location: string | undefined; readonly read: OutboundResponse }

/** One request to one address. Every connection is new, so that none leads to an address that was checked earlier. */
function exchange(
  ctx: Pick<Ctx, 'settings'>,
  target: Destination,
  { request, method, trusted }: Exchange,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const { url, host, port, scheme } = target
  const credentials = credentialsOf(url)
  const body = method === 'GET' ? undefined : request.body
  const streamed = typeof body === 'object' && !Buffer.isBuffer(body) ? body : undefined
  const whole = streamed || body === undefined ? undefined : Buffer.from(body as string | Buffer)
  const options = {
    method,
    host,
    port,
    path: `${url.pathname}${url.search}`,
    agent: false as const,
    maxHeaderSize: maxHeaderBytes,
    headers: {
      ...request.headers,
      ...(trusted && request.secretHeaders),
      ...(credentials && { authorization: basic(credentials) }),
      host: url.host,
      connection: 'close',
      ...(whole && { 'content-length': whole.length }),
      ...(streamed && { 'content-length': streamed.sizeBytes }),
    },
    signal,
    ...pinned(ctx, target),
  }
  const sent: ClientRequest =
    scheme === 'https'
      ? httpsRequest({
          ...options,
          rejectUnauthorized: request.verifiesTls,
          ...(isIP(host) === 0 && { servername: host }),
        })
      : httpRequest(options)
  let hasResponse = false
  sent.on('error', reject)
  // An answer such as 101 ends the connection without an error.
  sent.on('close', () => hasResponse || reject(new OutboundFailure('The receiver closed the connection')))
  sent.on('response', (response) => {
    hasResponse = true
    readAnswer(response, request).then(
      (answer) => {
        sent.destroy()
        resolve(answer)
      },
      (error) => {
        sent.destroy()
        reject(error)
      },
    )
  })
  if (streamed) {
    const unreadable = (error: unknown) => {
      reject(new UnreadableBody(error))
      sent.destroy()
    }
    streamed.open().then((source) => {
      // If the request fails first, the promise is settled already.
      source.once('error', unreadable)
      return (
        pipeline(source, sent)
          // The receiver may answer before it has read everything.
          .catch((error) => hasResponse || reject(error))
          // A request that has failed already leaves its source open, and a file that is still open when it is forgotten ends the process.
          .finally(() => source.destroy())
      )
    }, unreadable)
  } else sent.end(whole)
  return promise
}

/**
 * The options with which a request connects to one of the checked addresses, whatever the name resolves to now. Node tries them in
 * turn, so that a host with an IPv6 address is reached from a machine without IPv6.
 */
function pinned(ctx: Pick<Ctx, 'settings'>, target: Destination): { lookup?: LookupFunction } {
  if (!isPinned(ctx, target)) return {}
  const checked = target.addresses.map((address) => ({ address, family: isIP(address) }))
  const lookup: LookupFunction = (_name, options, done) =>
    options.all ? done(null, checked) : done(null, checked[0]!.address, checked[0]!.family)
  return { lookup }
}

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

async function readAnswer(
  response: IncomingMessage,
  { receive, wholeHeaders = [] }: Pick<OutboundRequest, 'receive' | 'wholeHeaders'>,
): Promise<Answer> {
  const chunks: Buffer[] = []
  const status = response.statusCode ?? 0
  if (receive && status >= 200 && status < 300) await receive(response)
  else {
    let bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxBodyBytes) break
    }
  }
  const headers = Object.entries(response.headers)
    .filter(([name]) => !secretResponseHeaders.has(name))
    .slice(0, maxHeaders)
    .map(([name, value]) => [name, storable(String(value)).slice(0, maxHeaderLength)])
  for (const name of wholeHeaders)
    if (response.headers[name] !== undefined) headers.push([name, storable(String(response.headers[name]))])
  const body = storable(Buffer.concat(chunks).subarray(0, maxBodyBytes).toString('utf8'))
  const reason = storable(response.statusMessage ?? '').slice(0, maxHeaderLength)
  const read = { status, reason, headers: Object.fromEntries(headers), body }
  return { status, location: response.headers.location, read }
}

/** Messages of Node contain addresses at most, and those are the receiver's own. */
function messageOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ECONNREFUSED') return 'Connection refused'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'The receiver closed the connection'
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'The host is unreachable'
  if (typeof code === 'string' && /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return `The certificate is not valid (${code})`
  return `The request failed${typeof code === 'string' ? ` (${code})` : ''}`
}
