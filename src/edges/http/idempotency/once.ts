import { randomUUID } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import type { Actor } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { contextWithin } from '../../../api/within-transaction.ts'
import type { Tx } from '../../../db/db.ts'
import { conflict, Failure } from '../../../kernel/failure.ts'
import {
  claimKey,
  completeKey,
  findKey,
  type KeyOfCaller,
  type KeyRow,
  leaseSeconds,
  markEffect,
  purposeOf,
  releaseKey,
  renewKey,
  type StoredAnswer,
  tryLockKey,
} from '../../../modules/instance/index.ts'
import { digestOfKey } from './fingerprint.ts'
import type { Rendered } from './rendered.ts'

/** A request with an idempotency key. */
export type KeyedRequest = {
  readonly key: KeyOfCaller
  readonly fingerprint: string
  /** The request uploads files, which a second attempt could not read again. */
  readonly hasFiles: boolean
  /** Identifies the endpoint. */
  readonly endpoint: object
  /** The answer to an error. */
  answerFor(error: unknown): ErrorAnswer
}

type ErrorAnswer = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Keys of an actor. */
export const keyOf = (actor: Actor, text: string): KeyOfCaller => ({
  userId: actor.id,
  scope: scopeOf(actor),
  digest: digestOfKey(text),
})

/**
 * What separates the keys of a credential from others of its user: the answer to one may be a secret that gives more than the other.
 * Limited tokens and administrators who act as a user have keys of their own; so have, each together, impersonation tokens, the OAuth
 * tokens that replace each other, and the tokens with the scope `sudo`.
 */
function scopeOf({ tokenId, borrowed, scopes, limits, sudo }: Actor): string {
  if (sudo) return `sudo:${sudo.id}`
  if (limits) return `token:${tokenId}`
  return [borrowed, scopes?.has('sudo') && 'sudo'].filter(Boolean).join(' ')
}

/** Thrown when a request in a transaction turns out to change something outside the database. */
class LeavesDatabase extends Error {}

/** Endpoints that were found to change something outside the database. */
const outside = new WeakSet<object>()

/** Maximum size of a body, and of its compressed form, that is stored; a repeat of a request with a larger one is refused. */
const maxBodyBytes = 16 * 1024 * 1024
const maxStoredBytes = 1024 * 1024

/**
 * Runs a request once for its key: a repeat within a day gets the answer of the first (docs/adr/0029).
 *
 * The request runs in one transaction, which also stores its answer: both are committed, or neither. When it turns out to change
 * something outside the database, it is rolled back and runs again, with a claim that is committed first.
 */
export async function once(ctx: Ctx, request: KeyedRequest, run: (ctx: Ctx) => Promise<Rendered>): Promise<Rendered> {
  const known = await findKey(ctx.db, request.key)
  if (known) {
    const repeated = repeatOf(ctx, request, known)
    if (repeated) return repeated
  }
  if (!request.hasFiles && !outside.has(request.endpoint)) {
    try {
      return await inTransaction(ctx, request, run)
    } catch (error) {
      if (!(error instanceof LeavesDatabase)) throw error
      outside.add(request.endpoint)
    }
  }
  return withClaim(ctx, request, run)
}

const busy = () =>
  new Failure('conflict', 'The first request with this Idempotency-Key is still running', { retryAfterSeconds: 1 })

const interrupted = () =>
  conflict(
    'The first request with this Idempotency-Key was interrupted and may have taken effect: check, then use another key',
  )

/** The stored answer; `undefined` if the request was interrupted before it took effect, and may run again. */
function repeatOf(ctx: Ctx, { key, fingerprint }: KeyedRequest, row: KeyRow): Rendered | undefined {
  if (row.fingerprint !== fingerprint)
    throw new Failure('unprocessable', 'This Idempotency-Key was used for another request')
  if (row.state === 'running') {
    if (row.is_leased) throw busy()
    if (row.took_effect) throw interrupted()
    return undefined
  }
  if (row.is_cut)
    throw conflict('The first request with this Idempotency-Key succeeded; its answer was too large to be stored')
  const body =
    row.sealed_body === null
      ? undefined
      : inflateSync(Buffer.from(ctx.secrets.open(row.sealed_body, purposeOf(key)), 'latin1'))
  return { status: row.status!, headers: { ...row.headers, 'idempotency-replayed': 'true' }, body }
}

function stored(ctx: Ctx, key: KeyOfCaller, { status, headers, body }: Rendered): StoredAnswer {
  if (!body) return { status, headers, sealedBody: null, isCut: false }
  const smaller = body.length > maxBodyBytes ? undefined : deflateSync(body)
  if (!smaller || smaller.length > maxStoredBytes) return { status, headers, sealedBody: null, isCut: true }
  return { status, headers, sealedBody: ctx.secrets.seal(smaller.toString('latin1'), purposeOf(key)), isCut: false }
}

/** A refusal whose transaction is committed: what the handler wrote before it, such as a failed attempt, remains. */
class Refused {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

async function inTransaction(ctx: Ctx, request: KeyedRequest, run: (ctx: Ctx) => Promise<Rendered>): Promise<Rendered> {
  let refused: Refused | undefined
  let outcome: Rendered | Refused
  try {
    outcome = await ctx.transaction(async (tx) => {
      refused = undefined
      return runWithin(ctx, tx, request, run, (error) => (refused = new Refused(error)))
    })
  } catch (error) {
    if (!refused) throw error
    // A statement had failed, so nothing could be committed.
    await storeRefusal(ctx, request, refused.error)
    throw refused.error
  }
  if (outcome instanceof Refused) throw outcome.error
  return outcome
}

async function runWithin(
  ctx: Ctx,
  tx: Tx,
  request: KeyedRequest,
  run: (ctx: Ctx) => Promise<Rendered>,
  refuse: (error: unknown) => Refused,
): Promise<Rendered | Refused> {
  const { key, fingerprint } = request
  if (!(await tryLockKey(tx, key))) throw busy()
  // Another request may have ended since the key was looked up.
  const known = await findKey(tx, key)
  const repeated = known && repeatOf(ctx, request, known)
  if (repeated) return repeated
  const id = randomUUID()
  if (!(await claimKey(tx, key, fingerprint, id))) throw busy()
  const within = keyedWithin(ctx, tx)
  try {
    let rendered: Rendered | undefined
    let error: unknown
    try {
      rendered = await run(within.ctx)
    } catch (thrown) {
      error = thrown
    }
    await within.settled()
    // The code may have caught the error.
    if (within.hasLeft()) throw new LeavesDatabase('the request changes something outside the database')
    if (rendered) {
      await completeKey(tx, key, id, stored(ctx, key, rendered))
      return rendered
    }
    const answer = request.answerFor(error)
    if (answer.status >= 500) throw error
    const refused = refuse(error)
    const refusal = refusalOf(answer)
    if (refusal) await completeKey(tx, key, id, stored(ctx, key, refusal))
    else await releaseKey(tx, key, id)
    return refused
  } finally {
    within.end()
  }
}

/** A context within the transaction of the answer, which remembers whether the request wants to change something outside the database. */
function keyedWithin(ctx: Ctx, tx: Tx) {
  let hasLeft = false
  const leave = () => {
    hasLeft = true
    throw new LeavesDatabase('the request changes something outside the database')
  }
  const within = contextWithin(ctx, tx)
  return {
    ...within,
    ctx: { ...within.ctx, outside: { prepare: leave, begin: async () => leave() } },
    hasLeft: () => hasLeft,
  }
}

/** For requests that change something outside the database, such as refs. */
async function withClaim(ctx: Ctx, request: KeyedRequest, run: (ctx: Ctx) => Promise<Rendered>): Promise<Rendered> {
  const { key, fingerprint } = request
  const attempt = randomUUID()
  if (!(await claimKey(ctx.db, key, fingerprint, attempt))) {
    const known = await findKey(ctx.db, key)
    const repeated = known && repeatOf(ctx, request, known)
    if (repeated) return repeated
    throw busy()
  }
  const effect = async (db: Ctx['db']) => {
    // Another attempt may have taken over while this process was suspended.
    if (!(await markEffect(db, key, attempt))) throw busy()
  }
  const renewal = setInterval(
    () => void renewKey(ctx.db, key, attempt).catch(() => {}),
    (leaseSeconds * 1000) / 4,
  ).unref()
  try {
    const rendered = await run({
      ...ctx,
      transaction: (work) =>
        ctx.transaction(async (tx) => {
          await effect(tx)
          return work(tx)
        }),
      outside: { prepare: () => {}, begin: () => effect(ctx.db) },
    })
    await completeKey(ctx.db, key, attempt, stored(ctx, key, rendered))
    return rendered
  } catch (error) {
    const refusal = refusalOf(request.answerFor(error))
    if (refusal) await completeKey(ctx.db, key, attempt, stored(ctx, key, refusal))
    // A request that took effect before it failed does not run again.
    else await releaseKey(ctx.db, key, attempt)
    throw error
  } finally {
    clearInterval(renewal)
  }
}

/** Refusals that a repeat may overcome: they are not stored. */
const temporary = new Set([401, 408, 409, 429])

/** The answer to a refusal; `undefined` for faults and for refusals that may end soon. */
function refusalOf({ status, body, headers = {} }: ErrorAnswer): Rendered | undefined {
  if (status < 400 || status >= 500 || temporary.has(status)) return undefined
  const json = { 'content-type': 'application/json' }
  return { status, headers: { ...json, ...headers }, body: Buffer.from(JSON.stringify(body)) }
}

/** Stores a refusal after a rollback. */
async function storeRefusal(ctx: Ctx, { key, fingerprint, answerFor }: KeyedRequest, error: unknown): Promise<void> {
  const refusal = refusalOf(answerFor(error))
  if (!refusal) return
  const attempt = randomUUID()
  if (await claimKey(ctx.db, key, fingerprint, attempt))
    await completeKey(ctx.db, key, attempt, stored(ctx, key, refusal))
}
