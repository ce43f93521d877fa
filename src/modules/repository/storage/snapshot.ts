import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import { disposition } from '../../../api/disposition.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import { snapshot } from '../../../git/transfer/snapshot.ts'
import { SharedSlots } from '../../../kernel/shares.ts'
import { type Located, openRepository } from '../../projects/index.ts'

/** A snapshot reads files itself, so it does not count as a git process. */
const snapshots = new SharedSlots('snapshots', { slots: 12, maxWaiting: 100 })

/** Streams a bare repository as a tar named `<name>.git.tar`. Holds one of the caller's slots until the client has it; HEAD needs none. */
export async function snapshotBody(
  ctx: Ctx,
  located: Located,
  name: string,
  { reply, head }: { reply: Reply; head: boolean },
): Promise<RawBody> {
  const repo = openRepository(ctx, located)
  reply.header('content-disposition', disposition('attachment', `${name}.git.tar`))
  const contentType = 'application/x-tar'
  if (head) return { body: Readable.from([]), contentType }
  const leave = await snapshots.enter(ctx.shareKey, ctx.signal)
  const body = Readable.from(snapshot(repo), { objectMode: false })
  body.once('close', leave)
  return { body, contentType }
}
