import { ParameterError } from '../../../api/params/parameter-error.ts'

/** A body in a form no parameter can be read from: 415 rather than 400. */
export class UnsupportedContentType extends ParameterError {
  override name = 'UnsupportedContentType'

  constructor(contentType: string) {
    super(`The provided content-type '${contentType}' is not supported.`)
  }
}
