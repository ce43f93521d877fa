import type { JobSummary } from './jobs.ts'

/** Maximum bytes of a configuration file; real ones are far below. */
export const maxBytes = 64 * 1024
export const tooLarge = `the file is larger than ${maxBytes} bytes`

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
