import { type Glob, pathPattern } from './glob.ts'

/** A pattern of paths as a test of whole paths. */
export function pathGlob(pattern: string): Glob {
  const { matches } = pathPattern(pattern)
  return (path) => matches(path.split('/'))
}
