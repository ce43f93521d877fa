import type { Caller } from '../../access/actor.ts'
import type { Ctx } from '../../api/ctx.ts'
import { forbidden } from '../../kernel/failure.ts'
import { lfsAccess, lfsAccessStill, type Storage, sizeViolation } from '../../modules/pushes/index.ts'
import { lfsAccessForFiles, protocolRefusal } from '../../modules/transport/index.ts'
import type { Exchange } from '../http/answer.ts'
import { denialAnswer } from '../http/authenticate-git.ts'
import type { HttpContext } from '../http/context.ts'
import { endFailed } from '../http/end-failed.ts'
import { failureOf } from '../http/failures.ts'
import { refusedByLimits } from '../http/rate-limit.ts'
import { logAnswer } from '../http/request-log.ts'
import { splitTarget } from '../http/target.ts'
import type { RouteMatcher } from '../http/wildcard-routes.ts'
import { type LfsExchange, mediaType, refuse } from './answer.ts'
import { authenticateLfs, type Known, lfsCallerNow } from './authenticate.ts'
import { parseBatch, serveBatch, serveVerify } from './batch.ts'
import { readCall } from './body.ts'
import { serveCreateLock, serveListLocks, serveUnlock, serveVerifyLocks } from './locks.ts'
import { type LfsCall, type LfsRequest, operationOf, parseLfsRequest } from './request.ts'
import { serveDownload, serveUpload } from './transfer.ts'

/** Git LFS over HTTP (batch API, basic transfers, locks): parses, authenticates, checks permissions, serves. */
export const lfsMatcher =
  (context: HttpContext): RouteMatcher =>
  (method, url) => {
    const asked = parseLfsRequest(method, url)
    if (!asked) return undefined
    return {
      route: `/*.git/info/lfs ${asked.call.kind}`,
      serve: (exchange, remoteAddress) => serve(exchange, asked, remoteAddress, context),
    }
  }

async function serve(
  exchange: Exchange,
  { path, call }: LfsRequest,
  remoteAddress: string,
  context: HttpContext,
): Promise<void> {
  const { req } = exchange
  const reject = (status: number, message: string, headers = {}) =>
    refuse(exchange, context.siteUrl, status, message, { headers })
  let ctx: Ctx | undefined
  try {
    const settings = await context.settings.get()
    if (!settings.lfs_enabled) return reject(501, 'Git LFS is not enabled on this Stithy server, contact your admin.')
    if (call.kind === 'old_api')
      return reject(501, 'Server supports batch API only, please update your Git LFS client to version 1.0.1 and up.')
    const unfit = unfitHeaders(exchange, call)
    if (unfit) return reject(unfit.status, unfit.message)
    const known = await authenticateLfs(req.headers.authorization, context, remoteAddress)
    ctx = await context.open('denied' in known ? null : known.caller, remoteAddress)
    if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return
    if ('denied' in known) {
      const { status, message, headers } = denialAnswer(known, context.siteUrl)
      return reject(status, message, status === 401 ? challenge : headers)
    }
    const closed = isOfKey(known) ? undefined : protocolRefusal(ctx, 'http')
    if (closed !== undefined) return reject(403, closed)
    const batch = call.kind === 'batch' ? parseBatch(await readCall(exchange)) : undefined
    if (batch) ctx = { ...ctx, actor: await actorNow(known, context) }
    const access = batch
      ? await lfsAccessForFiles(ctx, path, { ...batch, count: batch.objects.length }, known.grant)
      : await lfsAccess(ctx, path, operationOf(call)!, known.grant)
    if ('challenge' in access) return reject(401, 'HTTP Basic: Access denied', challenge)
    if ('refused' in access) return reject(access.refused, access.message)
    const full =
      batch?.operation === 'upload' || call.kind === 'upload'
        ? await sizeViolation(ctx, access.storage.project.id, async () => (call.kind === 'upload' ? call.size : 0))
        : undefined
    if (full !== undefined) return reject(403, full)
    if (batch) await serveBatch({ exchange, ctx }, access.storage, batch, known.grant)
    else
      await answer({ exchange, ctx }, access.storage, call, () => accessNow(ctx!, known, access.storage, call, context))
  } catch (error) {
    failed(exchange, error, context)
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
  }
}

/** Whether the credential was issued over SSH, with which large files are transferred over HTTP, too. */
const isOfKey = ({ grant }: Known): boolean =>
  grant !== undefined && ('sshKeyId' in grant.holder || 'deployKeyId' in grant.holder)

/** Both headers: the first keeps browsers from showing a password dialog, the second is required by HTTP. */
const challenge = { 'lfs-authenticate': 'Basic realm="Stithy"', 'www-authenticate': 'Basic realm="Stithy"' }

/** API calls use the LFS media type; plain JSON is accepted. */
function unfitHeaders({ req }: Exchange, { kind }: LfsCall): { status: number; message: string } | undefined {
  if (kind === 'download' || kind === 'upload') return undefined
  const type = req.headers['content-type']
  if (req.method === 'POST' && !/^application\/(vnd\.git-lfs\+json|json)\s*(;|$)/i.test(type ?? ''))
    return { status: 415, message: `The Content-Type must be ${mediaType}` }
  if (!/^\s*$|application\/(vnd\.git-lfs\+json|json|\*)|\*\/\*/i.test(req.headers.accept ?? ''))
    return { status: 406, message: `The Accept must be ${mediaType}` }
  return undefined
}

type Body = Readonly<Record<string, unknown>>

type AccessNow = { readonly ctx: Ctx; readonly storage: Storage }

const notAllowed = () => forbidden('You are no longer allowed to do this.')

/** The caller once the body has arrived. Throws if they may no longer act. */
async function actorNow(known: Known, context: HttpContext): Promise<Caller> {
  const actor = await lfsCallerNow(known, context)
  if (actor === undefined) throw notAllowed()
  return actor
}

/** The rights of the caller once the body has arrived, which may have taken long. Throws if they may not do this any more. */
async function accessNow(
  ctx: Ctx,
  known: Known,
  { project }: Storage,
  call: LfsCall,
  context: HttpContext,
): Promise<AccessNow> {
  const now = { ...ctx, actor: await actorNow(known, context) }
  const access = await lfsAccessStill(now, project.id, operationOf(call)!, known.grant)
  if (!('storage' in access)) throw notAllowed()
  return { ctx: now, storage: access.storage }
}

async function answer(
  lfs: LfsExchange,
  storage: Storage,
  call: LfsCall,
  stillAllowed: () => Promise<AccessNow>,
): Promise<void> {
  const { exchange } = lfs
  const afterBody = async (serveBody: (lfs: LfsExchange, storage: Storage, body: Body) => Promise<void>) => {
    const body = await readCall(exchange)
    const { ctx, storage: held } = await stillAllowed()
    const requirePermission = async () => void (await stillAllowed())
    const transaction: Ctx['transaction'] = (work) => ctx.transaction((tx) => work({ ...tx, requirePermission }))
    await serveBody({ exchange, ctx: { ...ctx, transaction } }, held, body)
  }
  switch (call.kind) {
    case 'download':
      return serveDownload(lfs, storage, call.oid)
    case 'upload':
      return serveUpload(lfs, storage, call, stillAllowed)
    case 'verify':
      return afterBody(serveVerify)
    case 'list_locks':
      return serveListLocks(lfs, storage, new URLSearchParams(splitTarget(exchange.req.url!).query))
    case 'create_lock':
      return afterBody(serveCreateLock)
    case 'verify_locks':
      return afterBody(serveVerifyLocks)
    case 'unlock':
      return afterBody((late, held, body) => serveUnlock(late, held, call.id, body))
  }
}

const failed = (exchange: Exchange, error: unknown, { log, siteUrl }: HttpContext): void =>
  endFailed(exchange, error, {
    log,
    what: 'large-file request failed',
    send: ({ status, headers = {} }) =>
      refuse(exchange, siteUrl, status, failureOf(error)?.message ?? 'Internal Server Error', { headers }),
  })
