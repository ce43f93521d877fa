import type { Logger } from 'pino'
import type { Caller } from '../../access/actor.ts'
import type { Ctx } from '../../api/ctx.ts'
import type { Db } from '../../db/db.ts'
import type { Activity } from '../../kernel/activity.ts'
import type { AnswerToPush } from '../../modules/pushes/index.ts'

/** What the SSH transport needs from the application. */
export type SshContext = {
  readonly db: Db
  readonly log: Logger
  readonly activity: Activity
  /** Sources of the lines that clients print after a push. */
  readonly answersToPush: readonly AnswerToPush[]
  /** Opens a context for one command. */
  open(caller: Caller, remoteAddress: string | undefined): Promise<Ctx>
}
