import type { Logger } from 'pino'
import { ParameterError } from '../../api/params/parameter-error.ts'
import { type Exchange, sendText } from '../http/answer.ts'
import { endFailed } from '../http/end-failed.ts'
import { failureOf, type WireAnswer } from '../http/failures.ts'
import { type Code, RegistryError } from './errors.ts'

/** Ends a request of the registry that failed. `what` is for the log. */
export const failed = (exchange: Exchange, error: unknown, log: Logger, what: string): void =>
  endFailed(exchange, error, {
    log,
    what,
    send(answer) {
      const { status, body, headers = {} } = inItsFormat(error, answer)
      sendText(exchange, status, JSON.stringify(body), headers)
    },
  })

function inItsFormat(error: unknown, answer: WireAnswer): WireAnswer {
  if (error instanceof RegistryError) return answer
  const { status, headers = {} } = answer
  const message =
    error instanceof ParameterError ? error.message : (failureOf(error)?.message ?? 'Internal Server Error')
  return new RegistryError(codeOf(status), { status, message, headers }).answer
}

const codeOf = (status: number): Code => {
  if (status === 413) return 'SIZE_INVALID'
  if (status === 429) return 'TOOMANYREQUESTS'
  if (status === 401) return 'UNAUTHORIZED'
  if (status === 403) return 'DENIED'
  if (status === 404) return 'NAME_UNKNOWN'
  if (status >= 500) return status === 500 ? 'UNKNOWN' : 'UNAVAILABLE'
  return 'BLOB_UPLOAD_INVALID'
}
