import type { Logger } from 'pino'
import type { Caller } from '../access/actor.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database, Db } from '../db/db.ts'
import type { Git } from '../git/git.ts'
import type { Plan } from '../kernel/plan.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Settings } from '../settings/settings.ts'
import type { RecordTexts } from './record-texts.ts'
import type { Site } from './site.ts'

/** Who is calling and what they may reach. One per request, job or SSH session. */
export type Ctx = {
  readonly actor: Caller
  readonly db: Db
  readonly transaction: Database['transaction']
  readonly git: Git
  readonly blobs: BlobStore
  readonly mailer: Mailer
  /** Folder of the repositories; modules/projects/repositories/location.ts draws what lies below. */
  readonly repositoriesDir: string
  /** As they were when the request, job or session began. */
  readonly settings: Settings
  readonly site: Site
  readonly plan: Plan
  /** Records as text, for those that lists show again and again. */
  readonly texts: RecordTexts
  /** Seals what must be read again, for the database. */
  readonly secrets: Secrets
  readonly log: Logger
  /** The address of the client, for audit and limits; absent in jobs. */
  readonly remoteAddress: string | undefined
  /** Whose share of git processes and connections the work uses (`shareKeyOf`); '' for the service itself. */
  readonly shareKey: string
  /** Of whoever only reads: aborted when he leaves before he has his answer, which then nobody need work for. */
  readonly gone?: AbortSignal | undefined
}
