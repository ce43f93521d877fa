import type { Logger } from 'pino'
import type { Caller } from '../../access/actor.ts'
import type { Ctx, OfRequest, RegistryPlace } from '../../api/ctx.ts'
import type { Db } from '../../db/db.ts'
import type { Activity } from '../../kernel/activity.ts'
import type { Plan } from '../../kernel/plan.ts'
import type { TokenAuthenticator } from '../../modules/accounts/index.ts'
import type { AnswerToPush } from '../../modules/pushes/index.ts'
import type { SettingsReader } from '../../settings/store.ts'
import type { AbandonedRequests } from './abandoned-requests.ts'

/** What the HTTP transport needs from the application. */
export type HttpContext = {
  readonly db: Db
  readonly settings: SettingsReader
  readonly authenticator: TokenAuthenticator
  readonly plan: Plan
  /** Public URL, without a trailing slash. */
  readonly siteUrl: string
  /** Folder for files of multipart forms. */
  readonly uploadsDir: string
  readonly registry: RegistryPlace
  readonly log: Logger
  readonly abandoned: AbandonedRequests
  readonly activity: Activity
  /** Sources of the lines that clients print after a push. */
  readonly answersToPush: readonly AnswerToPush[]
  /** Opens a context for one request; `signal` for read-only requests. */
  open(caller: Caller, remoteAddress: string | undefined, request?: OfRequest): Promise<Ctx>
  /** Validates every response against its declaration; tests set it. */
  readonly onAnswer?: ((method: string, path: string, status: number, body: unknown) => void) | undefined
}
