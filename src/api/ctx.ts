import type { Logger } from 'pino'
import type { Caller } from '../access/actor.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database, Db, RequestReads } from '../db/db.ts'
import type { Git } from '../git/git.ts'
import type { Plan } from '../kernel/plan.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Settings } from '../settings/settings.ts'
import type { Html, MarkdownText } from './markdown.ts'
import type { OutsideEffects } from './outside.ts'
import type { RecordTexts } from './record-texts.ts'
import type { Site } from './site.ts'

/** What a context takes from the request besides the caller. */
export type OfRequest = Partial<Pick<Ctx, 'signal' | 'userAgent' | 'eventSource'>> & RequestReads

/** Where the container registry is. */
export type RegistryPlace = {
  /** Host and port for clients, such as `registry.example:5000`; undefined if the registry is off. */
  readonly host: string | undefined
  /** Folder of its key and of unfinished uploads. */
  readonly folder: string
}

/** The caller and the services available to it. One per request, job or SSH session. */
export type Ctx = {
  readonly actor: Caller
  readonly db: Db
  readonly transaction: Database['transaction']
  readonly git: Git
  readonly blobs: BlobStore
  readonly mailer: Mailer
  /** Folder of the repositories; modules/projects/repositories/location.ts describes its layout. */
  readonly repositoriesDir: string
  /** Settings at the start of the request, job or session. */
  readonly settings: Settings
  readonly site: Site
  readonly registry: RegistryPlace
  readonly plan: Plan
  /** Whether impersonation tokens are valid. */
  readonly impersonation: boolean
  /** Cache of serialized records that lists reuse. */
  readonly texts: RecordTexts
  /** The same for records that are named by their inputs (`pure-entity.ts`): these are useless once a row was read again. */
  readonly inputTexts: RecordTexts
  readonly markdown: Markdown
  /** Encrypts values that the database stores and that must be read again. */
  readonly secrets: Secrets
  readonly log: Logger
  /** IP address of the client, for audit and limits; absent in jobs. */
  readonly remoteAddress: string | undefined
  /** `User-Agent` of an API request. */
  readonly userAgent?: string | undefined
  /** Set if the client follows a stream of server-sent events (`Accept: text/event-stream`), with its `Last-Event-ID`. */
  readonly eventSource?: { readonly lastEventId: string | undefined } | undefined
  /** Whose share of git processes and connections the work uses (`shareKeyOf`); '' for the service itself. */
  readonly shareKey: string
  /** The work belongs to a push, whose git process holds a slot of the caller's share until it is done. */
  readonly holdsTransfer?: true
  /** Set while the effects of the request must be committed together with its answer. */
  readonly outside?: OutsideEffects
  /** Only in read-only requests: aborts when the client disconnects before it has received the whole response. */
  readonly signal?: AbortSignal | undefined
}

/** Renders Markdown. `modules/text` implements it; modules before it use it through their context. */
export type Markdown = {
  /**
   * Safe HTML of texts, in their order, with links to what the caller of `ctx` may see. Costs no statement for texts without
   * references, else one cached statement for each kind of reference. A text that is too large or too complex is returned as escaped text.
   * What is needed to look up a text is remembered for a list that is frozen.
   */
  html(ctx: Ctx, texts: readonly MarkdownText[]): Promise<readonly Html[]>
}
