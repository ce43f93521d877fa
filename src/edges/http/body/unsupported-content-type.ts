import { ParameterError } from '../../../api/params/parameter-error.ts'

/** A body of an unsupported content type: 415 instead of 400. */
export class UnsupportedContentType extends ParameterError {
  override name = 'UnsupportedContentType'

  constructor(contentType: string) {
    super(`The provided content-type '${contentType}' is not supported.`)
  }
}
