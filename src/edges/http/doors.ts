import type { Logger } from 'pino'
import type { Caller } from '../../access/actor.ts'
import type { Ctx } from '../../api/ctx.ts'
import type { Db } from '../../db/db.ts'
import type { Plan } from '../../kernel/plan.ts'
import type { TokenAuthenticator } from '../../modules/accounts/index.ts'
import type { SettingsReader } from '../../settings/store.ts'
import type { AbandonedRequests } from './abandoned-requests.ts'

/** What the HTTP edge needs of the application. */
export type Doors = {
  readonly db: Db
  readonly settings: SettingsReader
  readonly authenticator: TokenAuthenticator
  readonly plan: Plan
  /** Where we are reached, without a slash at the end. */
  readonly siteUrl: string
  /** Folder for files of multipart forms. */
  readonly uploadsDir: string
  readonly log: Logger
  readonly abandoned: AbandonedRequests
  /** A context for one request; `gone` for one that only reads. */
  open(caller: Caller, remoteAddress: string | undefined, gone?: AbortSignal): Promise<Ctx>
  /** Checks every answer against its declaration; tests set it. */
  readonly onAnswer?: ((method: string, path: string, status: number, body: unknown) => void) | undefined
}
