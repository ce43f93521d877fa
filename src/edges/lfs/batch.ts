import { parseDigest } from '../../blobs/blob-store.ts'
import { conflict, Failure } from '../../kernel/failure.ts'
import {
  type Asked,
  answerBatch,
  type Grant,
  type Operation,
  type Storage,
  sizesOf,
} from '../../modules/pushes/index.ts'
import { type LfsExchange, refuse, sendLfs } from './answer.ts'
import { checkRef, unprocessable } from './body.ts'

export type Batch = { readonly operation: Operation; readonly objects: readonly Asked[] }

/** Ten times what clients send. */
const maxObjects = 1000

const isAsked = (value: unknown): value is Asked => {
  const { oid, size } = (value ?? {}) as Partial<Asked>
  return typeof oid === 'string' && typeof size === 'number'
}

/** Parses and validates a batch request. `ref` is checked but unused: permissions do not depend on the branch. */
export function parseBatch(body: Readonly<Record<string, unknown>>): Batch {
  const { operation, objects, transfers, hash_algo = 'sha256', ref } = body
  if (operation !== 'download' && operation !== 'upload') throw unprocessable('operation must be download or upload')
  if (hash_algo !== 'sha256') throw conflict('hash_algo must be sha256')
  if (transfers != null && !(Array.isArray(transfers) && (transfers.length === 0 || transfers.includes('basic'))))
    throw unprocessable('transfers must include basic')
  checkRef(ref)
  if (!Array.isArray(objects)) throw unprocessable('objects is missing')
  if (objects.length > maxObjects) throw new Failure('too_large', `More than ${maxObjects} objects in a batch`)
  if (!objects.every(isAsked)) throw unprocessable('objects must each have an oid and a size')
  return { operation, objects }
}

export async function serveBatch(
  { exchange, ctx }: LfsExchange,
  storage: Storage,
  batch: Batch,
  grant: Grant | undefined,
): Promise<void> {
  const objects = await answerBatch(ctx, storage, batch.operation, batch.objects, grant)
  sendLfs(exchange, 200, { transfer: 'basic', hash_algo: 'sha256', objects })
}

/** Verifies that an uploaded file exists with the size the client expects. */
export async function serveVerify(
  { exchange, ctx }: LfsExchange,
  storage: Storage,
  { oid, size }: Readonly<Record<string, unknown>>,
): Promise<void> {
  const digest = typeof oid === 'string' ? parseDigest(oid) : undefined
  if (digest === undefined || !Number.isSafeInteger(size)) throw unprocessable('oid or size is invalid')
  const stored = (await sizesOf(ctx, storage, [digest])).get(digest)
  if (stored !== size) return refuse(exchange, ctx.site.url, 404, 'Not found.')
  sendLfs(exchange, 200, { oid, size })
}
