import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from './repository.ts'

/** Files that can be made again at any time, so they do not count as content of the repository, and no backup has them. */
export const derivedFiles = { sketches: 'stithy-sketches', lineCounts: 'stithy-line-counts' } as const

/** Whether a file is one of them, or is becoming one. */
export const isDerivedFile = (name: string): boolean =>
  Object.values(derivedFiles).some((derived) => name.startsWith(derived))

export const derivedFile = (repo: Repository, name: keyof typeof derivedFiles): string =>
  join(repo.gitDir, 'objects/info', derivedFiles[name])

/**
 * Replaces a file as a whole. Not durable, and if two processes do so at once, the content may be that of neither: readers must recognize a
 * damaged file by its checksum, and count it as missing.
 */
export async function replaceDerivedFile(place: string, content: Buffer): Promise<void> {
  const temporary = `${place}.new`
  try {
    await writeFile(temporary, content)
    await rename(temporary, place)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
