import { textsOf } from '../../api/cached-records.ts'
import type { Ctx } from '../../api/ctx.ts'
import { type Endpoint, noRecord, type RawBody, unchanged, Variant } from '../../api/endpoint.ts'
import { type Entity, presentAll } from '../../api/entity.ts'
import type { Page, Paged } from '../../api/page.ts'
import { isCachedEntity, textsOfRows } from '../../api/pure-entity.ts'
import { RecordText } from '../../api/record-texts.ts'
import { notFound, pageTooLarge } from '../../kernel/failure.ts'
import { bytesOf, type Exchange, type Headers } from './answer.ts'
import type { HttpContext } from './context.ts'
import { statusOf } from './declared.ts'
import type { Output } from './output.ts'
import { pageHeaders } from './page-headers.ts'

type Handled = {
  readonly output: Output
  readonly exchange: Exchange
  readonly ctx: Ctx
  readonly result: unknown
  readonly page: Page
  readonly headers: Headers
  readonly query: string
  readonly context: HttpContext
}

/** Answers with what the handler of an endpoint returned, as records of what it declares. */
export async function sendResult(
  e: Endpoint,
  { output, exchange, ctx, result, page, headers, query, context }: Handled,
): Promise<void> {
  if (result === unchanged) return output.empty(304, headers)
  const status = statusOf(e)
  if (e.returns === null) return output.empty(status, headers)
  if (result === noRecord) return output.json(status, null, headers)
  if ('list' in e.returns) {
    const records = await presentAll(e.returns.list, result as readonly unknown[], ctx)
    context.onAnswer?.(e.method, e.path, status, records)
    return output.json(status, records, headers)
  }
  if ('raw' in e.returns) {
    const { body, contentType, sizeBytes } = result as RawBody
    const length = sizeBytes === undefined ? {} : { 'content-length': sizeBytes }
    return output.body(status, body, { 'content-type': contentType, ...length, ...headers })
  }
  if (result instanceof RecordText) {
    context.onAnswer?.(e.method, e.path, status, JSON.parse(result.bytes.toString()))
    return output.records(status, [result], false, headers)
  }
  const [shape, value] =
    result instanceof Variant ? [result.shape, result.result] : [e.returns as Entity<unknown>, result]
  const paged = e.paged ? (value as Paged<unknown>) : undefined
  const rows = paged ? paged.rows : [value]
  if (paged) {
    const url = context.siteUrl + exchange.req.url!.split('?', 1)[0]
    Object.assign(headers, pageHeaders(url, query, paged, page))
  }
  const shownStatus = ('status' in shape ? shape.status : undefined) ?? status
  const texts = await cachedTexts(shape, rows, ctx)
  if (texts) {
    if (!paged && texts.length === 0) throw notFound(e.subject.what)
    if (paged && texts.length > 1 && texts.reduce((sum, { bytes }) => sum + bytes.length, 0) > maxPageBytes)
      throw pageTooLarge()
    if (context.onAnswer)
      context.onAnswer(e.method, e.path, shownStatus, JSON.parse(bytesOf(texts, e.paged === true).toString()))
    return output.records(shownStatus, texts, e.paged === true, headers)
  }
  const records = await presentAll(shape as Entity<unknown>, rows, ctx)
  const answered = e.paged ? records : records[0]
  context.onAnswer?.(e.method, e.path, shownStatus, answered)
  return output.json(shownStatus, answered, headers)
}

/** Maximum bytes of a page of serialized records, each of which may have been read by itself. */
const maxPageBytes = 64 * 1024 * 1024

/** The texts of rows; undefined if they are not cached. */
async function cachedTexts(
  shape: Variant['shape'],
  rows: readonly unknown[],
  ctx: Ctx,
): Promise<readonly RecordText[] | undefined> {
  if ('load' in shape) return textsOf(shape, rows as { id: number }[], ctx)
  if (rows.length > 0 && rows.every((row) => row instanceof RecordText)) return rows
  return isCachedEntity(shape) ? textsOfRows(shape, rows, ctx) : undefined
}
