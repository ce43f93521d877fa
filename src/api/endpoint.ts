import type { Readable } from 'node:stream'
import type { Static, TObject } from 'typebox'
import type { Facts, Policy } from '../access/policy.ts'
import type { Scope } from '../access/scopes.ts'
import type { Timestamp } from '../db/types.ts'
import type { Tier } from '../kernel/plan.ts'
import type { Settings } from '../settings/settings.ts'
import type { Ctx } from './ctx.ts'
import type { Entity } from './entity.ts'
import type { Kept } from './kept.ts'
import type { Page, Paged } from './page.ts'
import type { ParamsOf } from './params/params-of.ts'
import type { RecordText } from './record-texts.ts'

/** A thing an endpoint acts on: how the path names it, how it is loaded, which abilities exist on it. */
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
}

export const subject = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  s: Subject<T, A, P>,
): Subject<T, A, P> => s

/** A body that is not JSON. */
export type RawBody = { readonly body: Buffer | Readable; readonly contentType: string; readonly sizeBytes?: number }

/** Declares an answer that is bytes rather than a record. */
export type Raw = { readonly raw: string }
/** `contentType` is for the documentation; the handler's body says its own. */
export const raw = (contentType: string): Raw => ({ raw: contentType })

/** Declares an answer that is all of a list at once, however long, without pages. */
export type Listed<Row> = { readonly list: Entity<Row> }
export const listed = <Row>(list: Entity<Row>): Listed<Row> => ({ list })

/** Several forms of one answer; the handler says which with `as`. */
export type Variants = { readonly variants: readonly Entity<any>[] }
export const variants = (...entities: readonly Entity<any>[]): Variants => ({ variants: entities })

/** A handler's answer in one of the declared `variants`. */
export class Variant {
  readonly shape: Entity<any> | Kept<any, any>
  readonly result: unknown
  constructor(shape: Entity<any> | Kept<any, any>, result: unknown) {
    this.shape = shape
    this.result = result
  }
}
/** The answer as this entity, or as its kept texts when the rows are stamps. */
export const as = <Row>(shape: Entity<Row> | Kept<Row, any>, result: Row | Paged<Row>): Variant =>
  new Variant(shape, result)

/** What a handler returns when things were as asked already: 304, where the endpoint says what that means. */
export const unchanged: unique symbol = Symbol('unchanged')

/** What a handler may say besides its result. */
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
          : void

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
  /** What the summary has no room for, in full sentences. For the documentation. */
  readonly description?: string
  /** The plan from which the call exists. */
  readonly tier?: Tier
  /** Token scopes that reach it besides `api` (and `read_api` for reads). */
  readonly scopes?: readonly Scope[]
  readonly subject: Subject<T, A, SP>
  readonly allow: NoInfer<A>
  /** Parameters of path, query and body together; a name that stands in `path` is taken from there. */
  readonly params?: P
  /** Offset pages, and keyset pages where the list is ordered by id. */
  readonly paged?: Paging
  /** Default: 201 for POST, 204 without an answer, else 200. */
  readonly status?: number
  /** Largest body in bytes, files apart. Default 8 MiB, which is also the most that is read from nobody known. */
  readonly bodyLimit?: number
  /** Largest file of a form in bytes. Default 100 MiB. */
  readonly fileLimit?: (settings: Settings) => number
  /** When a handler answers `unchanged` (304), for the documentation. */
  readonly unchanged?: string
  /** When a handler refuses with 406, for the documentation. */
  readonly notAcceptable?: string
  /** Headers of the answer that clients read, by name, with what each says. For the documentation. */
  readonly headers?: Readonly<Record<string, string>>
  readonly deprecated?: true
  /** Open to those, too, who did not accept the terms of service that are enforced. */
  readonly beforeTerms?: true
  /** Honours If-Unmodified-Since: when what goes last changed; nothing when it is not there. Asked only with that header. */
  readonly changedAt?: (
    subject: T,
    params: ParamsOf<P>,
    ctx: Ctx,
  ) => Timestamp | undefined | Promise<Timestamp | undefined>
  /** Hears of a revoked token that is shown with the call, before that is refused. */
  readonly onRevokedToken?: (ctx: Ctx, secret: string) => Promise<void>
  readonly returns: R
  /** With `head` only headers are sent: one who sets an `etag` may then leave out what would stand in the body alone. */
  handle(input: {
    subject: T
    /** Of the endpoint itself; what names the subject is in the subject. */
    params: ParamsOf<P>
    page: Page
    ctx: Ctx
    reply: Reply
    head: boolean
  }): Promise<Result<R, Paging> | typeof unchanged>
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
