import type { Readable } from 'node:stream'
import type { Static, TObject } from 'typebox'
import type { Facts, Policy } from '../access/policy.ts'
import type { Scope } from '../access/scopes.ts'
import type { Timestamp } from '../db/types.ts'
import type { Tier } from '../kernel/plan.ts'
import type { Settings } from '../settings/settings.ts'
import type { CachedRecords } from './cached-records.ts'
import type { Ctx } from './ctx.ts'
import type { Entity } from './entity.ts'
import type { Page, Paged } from './page.ts'
import type { ParamsOf } from './params/params-of.ts'
import type { RecordText } from './record-texts.ts'

/** What an endpoint acts on: how the path names it, how it is loaded, and which abilities exist on it. */
export type Subject<T extends { readonly facts: Facts }, A extends string, P extends TObject> = {
  /** The noun of `404 Project Not Found`. */
  readonly what: string
  /** Parameters of the path that name it. */
  readonly params: P
  readonly policy: Policy<A>
  /** The ability without which the subject is reported as missing rather than forbidden. */
  readonly visible: NoInfer<A>
  /** One statement: the row with the caller's facts. */
  load(params: Static<P>, ctx: Ctx): Promise<T | undefined>
  /** Two subjects are the same one if this is equal; its `id` if absent. */
  identityOf?(subject: T): unknown
}

export const subject = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  s: Subject<T, A, P>,
): Subject<T, A, P> => s

/** A body that is not JSON. */
export type RawBody = { readonly body: Buffer | Readable; readonly contentType: string; readonly sizeBytes?: number }

/** Declares a response of bytes rather than records. */
export type Raw = { readonly raw: string }
/** `contentType` is for the documentation; the handler sets the actual one. */
export const raw = (contentType: string): Raw => ({ raw: contentType })

/** Declares a response of a whole list, without pagination. */
export type Listed<Row> = { readonly list: Entity<Row> }
export const listed = <Row>(list: Entity<Row>): Listed<Row> => ({ list })

/** Declares several possible record types; the handler chooses one with `as`. */
export type Variants = { readonly variants: readonly Entity<any>[] }
export const variants = (...entities: readonly Entity<any>[]): Variants => ({ variants: entities })

/** A handler's result in one of the declared `variants`. */
export class Variant {
  readonly shape: Entity<any> | CachedRecords<any, any>
  readonly result: unknown
  constructor(shape: Entity<any> | CachedRecords<any, any>, result: unknown) {
    this.shape = shape
    this.result = result
  }
}
/** The result as this entity, or as its cached texts if the rows are version stamps. */
export const as = <Row>(shape: Entity<Row> | CachedRecords<Row, any>, result: Row | Paged<Row>): Variant =>
  new Variant(shape, result)

/** What a handler returns if there was nothing to change: 304. The endpoint documents the meaning in `unchanged`. */
export const unchanged: unique symbol = Symbol('unchanged')

/** What a handler returns if there is no record: 200 with `null`. The endpoint documents the meaning in `empty`. */
export const noRecord: unique symbol = Symbol('no record')

/** Sets parts of the response besides the result. */
export type Reply = { header(name: string, value: string): void }

type Returns = Entity<any> | Raw | Listed<any> | Variants | null
type Result<R extends Returns, Paging> =
  R extends Entity<infer Row>
    ? Paging extends true
      ? Paged<Row | RecordText>
      : Row | RecordText
    : R extends Raw
      ? RawBody
      : R extends Listed<infer Row>
        ? readonly Row[]
        : R extends Variants
          ? Variant
          : // biome-ignore lint/suspicious/noConfusingVoidType: what a function without a result returns.
            void

type Shape<
  T extends { readonly facts: Facts },
  A extends string,
  SP extends TObject,
  P extends TObject,
  R extends Returns,
  Paging,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v4`. */
  readonly path: string
  /** An imperative of at most six words: `Revoke approval of a merge request`. For the documentation. */
  readonly summary: string
  /** Details that do not fit into the summary, in full sentences. For the documentation. */
  readonly description?: string
  /** Lowest plan that offers the endpoint. */
  readonly tier?: Tier
  /** Token scopes that allow it besides `api` (and `read_api` for reads). */
  readonly scopes?: readonly Scope[]
  readonly subject: Subject<T, A, SP>
  readonly allow: NoInfer<A>
  /** Parameters of path, query and body together; names in `path` are taken from the path. */
  readonly params?: P
  /** Offset pages, and keyset pages where the list is ordered by id. */
  readonly paged?: Paging
  /**
   * The answer may have megabytes: how many are made for one caller at a time is limited, as it is for lists. A `difference` may take
   * seconds, which `content` does not wait for.
   */
  readonly large?: 'content' | 'difference'
  /** Default: 201 for POST, 204 without a response body, otherwise 200. */
  readonly status?: number
  /** Maximum body size in bytes, without files. Default 8 MiB. */
  readonly bodyLimit?: number
  /** Maximum size of a file in a declared parameter, in bytes. Default 8 MiB. */
  readonly fileLimit?: (settings: Settings) => number
  /** When a handler returns `unchanged` (304), for the documentation. */
  readonly unchanged?: string
  /** When a handler returns `noRecord`, for the documentation. */
  readonly empty?: string
  /** When a handler rejects with 406, for the documentation. */
  readonly notAcceptable?: string
  /** Response headers that clients read, by name, with a description. For the documentation. */
  readonly headers?: Readonly<Record<string, string>>
  readonly deprecated?: true
  /** Available even if the user has not accepted enforced terms of service. */
  readonly beforeTerms?: true
  /** Supports If-Unmodified-Since: returns the last change of what is deleted, or undefined if it does not exist. Called only with that header: first, and after a wait. */
  readonly changedAt?: (
    subject: T,
    params: ParamsOf<P>,
    ctx: Ctx,
  ) => Timestamp | undefined | Promise<Timestamp | undefined>
  /** Called if the request uses a revoked token, before the request is rejected. */
  readonly onRevokedToken?: (ctx: Ctx, secret: string) => Promise<void>
  readonly returns: R
  /** With `head` only headers are sent: a handler that sets an `etag` may omit values that only the body needs. */
  handle(input: {
    subject: T
    /** Parameters of the endpoint itself; those that name the subject are not included. */
    params: ParamsOf<P>
    page: Page
    ctx: Ctx
    reply: Reply
    head: boolean
    /** Throws `precondition_failed` as `changedAt` demands; called once before the handler. For handlers that try again after a change. */
    requireUnmodified(): Promise<void>
  }): Promise<Result<R, Paging> | typeof unchanged | typeof noRecord>
}

export type Endpoint = Shape<any, any, TObject, TObject, Returns, boolean>

/** Declares an endpoint. The value is inert: `edges/http/mount.ts` serves it, `edges/http/openapi/` documents it. */
export const endpoint = <
  T extends { readonly facts: Facts },
  A extends string,
  SP extends TObject,
  R extends Returns,
  P extends TObject = TObject<{}>,
  Paging extends boolean = false,
>(
  e: Shape<T, A, SP, P, R, Paging>,
): Endpoint => e as unknown as Endpoint
