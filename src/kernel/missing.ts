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
