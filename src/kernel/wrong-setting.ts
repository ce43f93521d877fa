import { Failure } from './failure.ts'

/** A setting names something that cannot be used. It remains so until the operator changes it, so a restart does not help. */
export class WrongSetting extends Failure {
  override name = 'WrongSetting'

  constructor(message: string, options: ErrorOptions = {}) {
    super('invalid', message, options)
  }
}
