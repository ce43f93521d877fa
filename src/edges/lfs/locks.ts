import { accountOf } from '../../access/actor.ts'
import {
  type LockPage,
  type LockRow,
  lockFile,
  lockPage,
  type Storage,
  unlockFile,
} from '../../modules/pushes/index.ts'
import { refuse, sendLfs, type Visit } from './answer.ts'
import { checkRef, unprocessable } from './body.ts'

type Body = Readonly<Record<string, unknown>>

const shown = ({ id, path, owner_name, created_at }: LockRow) => ({
  id: String(id),
  path,
  // The protocol has no fractions of seconds.
  locked_at: created_at.replace(/\.\d+Z$/, 'Z'),
  owner: { name: owner_name },
})

const nextCursor = ({ next }: LockPage) => (next === undefined ? {} : { next_cursor: String(next) })

const maxLocks = 100

/** A number or its text, as clients send it in queries and bodies; absent, null and empty give the fallback. */
function wholeOf(name: string, value: unknown, fallback: number): number {
  if (value == null || value === '') return fallback
  const number = typeof value === 'number' || /^\d{1,15}$/.test(String(value)) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number) || number < 0) throw unprocessable(`${name} is invalid`)
  return number
}

function pageAsked({ cursor, limit }: { cursor?: unknown; limit?: unknown }): { from: number; limit: number } {
  const asked = wholeOf('limit', limit, maxLocks)
  return { from: wholeOf('cursor', cursor, 0), limit: asked === 0 ? maxLocks : Math.min(asked, maxLocks) }
}

/** Lists locks of the project. `refspec` is ignored, because a lock applies to all branches. */
export async function serveListLocks(
  { exchange, ctx }: Visit,
  { project }: Storage,
  query: URLSearchParams,
): Promise<void> {
  const { path, id, ...paging } = Object.fromEntries(query) as Record<string, string | undefined>
  if (path?.includes('\0')) throw unprocessable('path is invalid')
  const filters = { path: path || undefined, id: id ? wholeOf('id', id, 0) : undefined }
  const page = await lockPage(ctx, project, filters, pageAsked(paging))
  sendLfs(exchange, 200, { locks: page.locks.map(shown), ...nextCursor(page) })
}

/** Lists locks, the caller's own separately from those of other users, which block a push. */
export async function serveVerifyLocks({ exchange, ctx }: Visit, { project }: Storage, body: Body): Promise<void> {
  checkRef(body['ref'])
  const page = await lockPage(ctx, project, {}, pageAsked(body))
  const own = ({ owner_id }: LockRow) => owner_id === accountOf(ctx.actor!)
  sendLfs(exchange, 200, {
    ours: page.locks.filter(own).map(shown),
    theirs: page.locks.filter((lock) => !own(lock)).map(shown),
    ...nextCursor(page),
  })
}

export async function serveCreateLock({ exchange, ctx }: Visit, { project }: Storage, body: Body): Promise<void> {
  const { path, ref } = body
  checkRef(ref)
  if (typeof path !== 'string') throw unprocessable('path is missing')
  const { lock, made } = await lockFile(ctx, project, path)
  if (made) sendLfs(exchange, 201, { lock: shown(lock) })
  else refuse(exchange, ctx.site.url, 409, 'already locked', { more: { lock: shown(lock) } })
}

export async function serveUnlock(
  { exchange, ctx }: Visit,
  { project }: Storage,
  id: string,
  body: Body,
): Promise<void> {
  const { force = false, ref } = body
  checkRef(ref)
  if (typeof force !== 'boolean') throw unprocessable('force is invalid')
  const lock = await unlockFile(ctx, project, wholeOf('id', id, 0), force)
  sendLfs(exchange, 200, { lock: shown(lock) })
}
