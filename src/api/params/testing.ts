import type { TObject } from 'typebox'
import { compileParams } from './compile.ts'
import { ParameterError } from './parameter-error.ts'
import type { RawParams } from './raw.ts'

/** The values, or the message of the 400. */
export function outcome(schema: TObject, raw: RawParams, method?: string): unknown {
  try {
    return compileParams(schema)(raw, method)
  } catch (error) {
    if (error instanceof ParameterError) return error.message
    throw error
  }
}
