import type { Readable } from 'node:stream'
import { listBytes, type RecordText } from '../../api/record-texts.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  type Exchange,
  type Headers,
  privateCacheControl,
  sendBody,
  sendEmpty,
  sendJson,
  sendLongJson,
  sendRecords,
} from './answer.ts'
import type { Rendered } from './idempotency/rendered.ts'
import { isLongJson } from './long-json.ts'

/** Where the answer of an endpoint goes. */
export type Output = {
  empty(status: number, headers?: Headers): void
  json(status: number, value: unknown, headers?: Headers): void | Promise<void>
  body(status: number, body: Buffer | Readable, headers: Headers): Promise<void>
  records(status: number, texts: readonly RecordText[], list: boolean, headers: Headers): void
}

/** Sends the answer to the client. */
export const toClient = (exchange: Exchange): Output => ({
  empty: (...answer) => sendEmpty(exchange, ...answer),
  json: (...answer) => (isLongJson(answer[1]) ? sendLongJson : sendJson)(exchange, ...answer),
  body: (status, body, headers) =>
    sendBody(exchange, status, body, { 'cache-control': privateCacheControl, ...headers }),
  records: (...answer) => sendRecords(exchange, ...answer),
})

/** Answers to writes are records; a larger one is not made in memory. */
const maxBytes = 64 * 1024 * 1024

/** Runs `work`, and returns the answer that it gives. */
export async function captured(work: (output: Output) => Promise<void>): Promise<Rendered> {
  let rendered: Rendered | undefined
  const json = { 'content-type': 'application/json' }
  await work({
    empty(status, headers = {}) {
      rendered = { status, headers, body: undefined }
    },
    json(status, value, headers = {}) {
      rendered = { status, headers: { ...json, ...headers }, body: Buffer.from(JSON.stringify(value)) }
    },
    async body(status, body, headers) {
      rendered = { status, headers, body: Buffer.isBuffer(body) ? body : await bytesOf(body) }
    },
    records(status, texts, list, headers) {
      rendered = { status, headers: { ...json, ...headers }, body: list ? listBytes(texts) : texts[0]!.bytes }
    },
  })
  if (!rendered) throw new Error('the endpoint gave no answer')
  return rendered
}

async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Failure('too_large', 'The result is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export async function sendRendered(exchange: Exchange, { status, headers, body }: Rendered): Promise<void> {
  if (body) await sendBody(exchange, status, body, headers)
  else sendEmpty(exchange, status, headers)
}
