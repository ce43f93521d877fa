import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { portablePeople } from '../../accounts/index.ts'
import type { PackedEntry } from '../archive/pack.ts'
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
