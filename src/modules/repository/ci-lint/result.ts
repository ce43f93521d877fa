/** Maximum bytes of a configuration file; real ones are far below. */
export const maxBytes = 64 * 1024
export const tooLarge = `the file is larger than ${maxBytes} bytes`

/** A job as it would run, with the keywords that it takes from `default` and from the global ones. */
export type JobSummary = {
  readonly name: string
  readonly stage: string
  readonly before_script: string[]
  readonly script: string[]
  readonly after_script: string[]
  readonly tag_list: string[]
  readonly environment: string | null
  readonly when: string
  readonly allow_failure: boolean
  readonly needs: string[]
}

export type Lint = {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
  /** Null if the file cannot be parsed. */
  readonly mergedYaml: string | null
  /** Paths of the local files that were included. */
  readonly includes: readonly string[]
  /** Only of a valid configuration, if asked for. */
  readonly jobs?: readonly JobSummary[] | undefined
}

/** Reads a file of the repository for `include`; `error` says why it cannot be read. */
export type ReadFile = (path: string) => Promise<{ text: string } | { error: string; isMissing?: true }>

export const invalid = (error: string): Lint => ({ errors: [error], warnings: [], mergedYaml: null, includes: [] })

/** The result for a text that needs no parsing. */
export function refusedAtOnce(text: string): Lint | undefined {
  if (text.trim() === '') return invalid('Please provide content of .gitlab-ci.yml')
  return Buffer.byteLength(text) > maxBytes ? invalid(tooLarge) : undefined
}
