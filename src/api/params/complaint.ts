/** Why one value was refused: the rest of a sentence that starts with the parameter's name. */
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
/** The value is refused, and its parts have already said why. */
export const isRefusedInPart = new Complaint('')
