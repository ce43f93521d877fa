/** An uploaded file as received. */
export type UploadedFileFacts = {
  /** Name of the form field, including brackets. */
  fieldName: string
  /** Base name from the client. Any text without `/` and `\`: sanitize it before storing it. */
  filename: string
  /** Media type from the client; never trust it when serving the file. */
  contentType: string
  /** Temporary file, deleted when the request ends unless it was renamed. */
  path: string
  sizeBytes: number
}

/** A file from a multipart form, in a temporary folder. A class, so that a JSON object with a `path` never counts as a file. */
export class UploadedFile {
  readonly fieldName: string
  readonly filename: string
  readonly contentType: string
  readonly path: string
  readonly sizeBytes: number

  constructor(facts: UploadedFileFacts) {
    this.fieldName = facts.fieldName
    this.filename = facts.filename
    this.contentType = facts.contentType
    this.path = facts.path
    this.sizeBytes = facts.sizeBytes
  }
}
