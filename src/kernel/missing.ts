import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

/** Whether an error says that a file or folder does not exist. */
export const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/** Handles the error of a file or folder that does not exist; throws any other. */
export const missingAs =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isMissing(error)) return value
    throw error
  }

/** The names in a folder; none if there is no folder. */
export const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(missingAs([]))

/** Whether there is a file or folder. Throws if that is unknown, for which `existsSync` says that there is none. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // A name of a request may be longer than any file can have.
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return false
    return missingAs(false)(error)
  }
}
