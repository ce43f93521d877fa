/** An uploaded file as its transport received it. */
export type UploadedFileFacts = {
  /** Name of the form field, brackets included. */
  fieldName: string
  /** Base name the caller gave. Any text without `/` and `\`: sanitize it before storing it. */
  filename: string
  /** Media type the caller claimed; never to be trusted when the file is served again. */
  contentType: string
  /** Temporary file, deleted when the request ends unless it has been renamed away. */
  path: string
  sizeBytes: number
}

/**
 * A file that came with a multipart form and lies in a temporary folder. A class, so that a JSON object
 * with a `path` in it can never pass for a file.
 */
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
