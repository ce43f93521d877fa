import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { bundle } from '../../../git/transfer/bundle.ts'
import { portablePeople } from '../../accounts/index.ts'
import { fileEntry, type PackedEntry } from '../archive/pack.ts'
import { LineFile } from '../records/write-records.ts'

/** The entry of a blob, which is opened when it is its turn. */
export const blobEntry = (ctx: Ctx, name: string, digest: Digest, size: number): PackedEntry => ({
  name,
  size,
  open: () => blobBody(ctx, digest),
})

/** The bytes of a blob that a row names. */
export async function blobBody(ctx: Ctx, digest: Digest): Promise<Readable> {
  const found = await ctx.blobs.get(digest)
  if (!found) throw new Error(`the blob ${digest} is missing`)
  return found.body
}

/** The entry of all refs of a repository, which are written to the file `path`; undefined if it has none. */
export async function bundledEntry(name: string, repo: Repository, path: string): Promise<PackedEntry | undefined> {
  const stream = (await repo.exists()) ? await bundle(repo) : undefined
  if (!stream) return undefined
  await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  return fileEntry(name, path, (await stat(path)).size)
}

const peoplePerStatement = 1000

/** Writes the people whom records name; undefined if there are none. Only administrators see the addresses of others. */
export async function writePeople(
  ctx: Ctx,
  usernames: ReadonlySet<string>,
  folder: string,
  withAddresses: boolean,
): Promise<LineFile | undefined> {
  if (usernames.size === 0) return undefined
  const file = new LineFile(join(folder, 'people'))
  const names = [...usernames].sort()
  for (let at = 0; at < names.length; at += peoplePerStatement) {
    const people = await portablePeople(ctx.db, names.slice(at, at + peoplePerStatement), { withAddresses })
    await file.add(
      people.map(({ username, name, email }) => JSON.stringify({ username, name, ...(email !== null && { email }) })),
    )
  }
  await file.close()
  return file
}
