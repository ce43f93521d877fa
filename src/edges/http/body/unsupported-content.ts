import { ParameterError } from '../../../api/params/parameter-error.ts'

/** A body of a content type or encoding that is not supported: 415 instead of 400. */
export class UnsupportedContent extends ParameterError {
  override name = 'UnsupportedContent'

  constructor(what: 'type' | 'encoding', given: string) {
    super(`The provided content-${what} '${given}' is not supported.`)
  }
}
