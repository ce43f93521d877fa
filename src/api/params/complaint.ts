/** Why a value was rejected: the rest of a sentence that starts with the parameter's name. */
export class Complaint {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export const isMissing = new Complaint('is missing')
export const isEmpty = new Complaint('is empty')
export const isInvalid = new Complaint('is invalid')
export const hasNoValidValue = new Complaint('does not have a valid value')
/** The value was rejected, and its parts have reported their violations. */
export const isRefusedInPart = new Complaint('')
