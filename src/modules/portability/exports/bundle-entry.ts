import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Repository } from '../../../git/repository/repository.ts'
import { bundle } from '../../../git/transfer/bundle.ts'
import { fileEntry, type PackedEntry } from '../archive/pack.ts'

/** The entry of all refs of a repository, which are written to the file `path`; undefined if it has none. */
export async function bundleEntry(name: string, repo: Repository, path: string): Promise<PackedEntry | undefined> {
  const stream = (await repo.exists()) ? await bundle(repo) : undefined
  if (!stream) return undefined
  await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  return fileEntry(name, path, (await stat(path)).size)
}
