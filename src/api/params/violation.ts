/** Why a value was rejected: the rest of a sentence that starts with the parameter's name. */
export class Violation {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export const isMissing = new Violation('is missing')
export const isEmpty = new Violation('is empty')
export const isInvalid = new Violation('is invalid')
export const hasNoValidValue = new Violation('does not have a valid value')
export const isUnknown = new Violation('is unknown')
/** The value was rejected, and its parts have reported their violations. */
export const isRefusedInPart = new Violation('')
