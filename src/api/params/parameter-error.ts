import { Failure } from '../../kernel/failure.ts'

/**
 * The caller's parameters cannot be read as declared. Unlike other failures its message travels under
 * `error`, as it stands: `{"error":"branch is missing, commit_message is missing"}` with status 400.
 */
export class ParameterError extends Failure {
  override name = 'ParameterError'

  constructor(message: string, options: ErrorOptions = {}) {
    super('invalid', message, options)
  }
}
