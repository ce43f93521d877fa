import { Failure } from '../../kernel/failure.ts'

/**
 * The parameters cannot be parsed as declared. Unlike other failures its message is sent as `error`, unchanged:
 * `{"error":"branch is missing, commit_message is missing"}` with status 400.
 */
export class ParameterError extends Failure {
  override name = 'ParameterError'

  constructor(message: string, options: ErrorOptions = {}) {
    super('invalid', message, options)
  }
}
