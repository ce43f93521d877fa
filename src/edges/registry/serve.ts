import type { Ctx } from '../../api/ctx.ts'
import { mayListCatalog, type Place, placeIfAllowed, type RegistryAction } from '../../modules/registry/index.ts'
import type { Exchange } from '../http/answer.ts'
import { callerNow } from '../http/caller-now.ts'
import type { HttpContext } from '../http/context.ts'
import { disconnectSignal } from '../http/disconnect.ts'
import { refusedByLimits } from '../http/rate-limit.ts'
import { logAnswer } from '../http/request-log.ts'
import { splitTarget } from '../http/target.ts'
import { bearerOf, challenge, covers, type Known } from './bearer.ts'
import { serveBlob, serveDeleteBlob } from './blobs.ts'
import { serveCatalog, serveReferrers, serveTags } from './discovery.ts'
import { RegistryError } from './errors.ts'
import { failed } from './failed.ts'
import { serveDeleteManifest, serveManifest, servePutManifest } from './manifests.ts'
import { type RegistryExchange, sendHeaders } from './registry-exchange.ts'
import { actionsOf, notAllowed, parseRegistryPath, type RegistryCall, type RegistryRequest } from './request.ts'
import { serveBeginUpload, serveUpload } from './uploads.ts'

/** The OCI distribution API: parses, reads the token, asks the policy, serves. */
export async function serveRegistry(exchange: Exchange, context: HttpContext): Promise<void> {
  const { req, remoteAddress } = exchange
  let ctx: Ctx | undefined
  try {
    const { registry } = context
    if (registry.host === undefined)
      throw new RegistryError('UNAVAILABLE', { status: 404, message: 'registry not enabled' })
    const { path, query } = splitTarget(req.url!)
    const asked = parseRegistryPath(path)
    const known = await bearerOf(req.headers.authorization, context, registry.folder, remoteAddress)
    const signal = req.method === 'GET' || req.method === 'HEAD' ? disconnectSignal(exchange) : undefined
    ctx = await context.open(known?.caller ?? null, remoteAddress, { signal })
    if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return
    await answer(exchange, ctx, asked, known, new URLSearchParams(query), context)
  } catch (error) {
    failed(exchange, error, context.log, 'registry request failed')
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
  }
}

async function answer(
  exchange: Exchange,
  ctx: Ctx,
  asked: RegistryRequest,
  known: Known | undefined,
  query: URLSearchParams,
  context: HttpContext,
): Promise<void> {
  const method = exchange.req.method!
  const refuse = (scope?: string) => challenge(ctx.site.url, scope, known !== undefined)
  if (asked.of === 'registry') {
    if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD'])
    if (asked.kind === 'base') {
      if (!known) throw refuse()
      return sendHeaders(exchange, 200)
    }
    if (!known || !covers(known.access, 'registry', 'catalog', '*') || !(await mayListCatalog(ctx)))
      throw refuse('registry:catalog:*')
    return serveCatalog(exchange, ctx, query)
  }
  const { name, call } = asked
  const actions = actionsOf(method, call)
  const access = known?.access ?? []
  const allowed = async (to: RegistryAction, of: string) =>
    covers(access, 'repository', of, to) ? placeIfAllowed(ctx, of, to) : undefined
  const action = actions.find((each) => covers(access, 'repository', name, each)) ?? actions[0]
  const place = await allowed(action, name)
  // The policy decides at this moment, whatever the token says.
  if (!place) throw refuse(scopeOf(name, action, query))
  const isAllowedNow = async (to: RegistryAction, of: string, { project }: Place) => {
    const actor = await callerNow(ctx.actor, context)
    const now = actor === undefined ? undefined : await placeIfAllowed({ ...ctx, actor }, of, to)
    // Another project may have the path by now.
    return now?.project.id === project.id
  }
  const requireStill = async () => {
    if (!(await isAllowedNow(action, name, place))) throw refuse(scopeOf(name, action, query))
  }
  const permitted: Ctx = {
    ...ctx,
    transaction: (work) => ctx.transaction((tx) => work({ ...tx, requirePermission: requireStill })),
  }
  await serveCall(
    {
      exchange,
      ctx: permitted,
      place,
      name,
      query,
      placeToPull: (of) => allowed('pull', of),
      mayStillPull: (of, from) => isAllowedNow('pull', of, from),
      requireStill,
      mayPush: covers(access, 'repository', name, 'push'),
    },
    call,
  )
}

/** The scope that a client needs for an action. Pushing clients read what they push. */
function scopeOf(name: string, action: RegistryAction, query: URLSearchParams): string {
  const own = `repository:${name}:${action === 'push' ? 'pull,push' : action}`
  const from = query.get('from')
  return action === 'push' && from !== null && /^[a-z0-9._/-]{1,255}$/.test(from)
    ? `${own} repository:${from}:pull`
    : own
}

function serveCall(registry: RegistryExchange, call: RegistryCall): Promise<void> {
  const { method } = registry.exchange.req
  switch (call.kind) {
    case 'tags':
      return serveTags(registry)
    case 'referrers':
      return serveReferrers(registry, call.digest)
    case 'blob':
      return method === 'DELETE' ? serveDeleteBlob(registry, call.digest) : serveBlob(registry, call.digest)
    case 'manifest':
      if (method === 'PUT') return servePutManifest(registry, call.reference)
      return method === 'DELETE'
        ? serveDeleteManifest(registry, call.reference)
        : serveManifest(registry, call.reference)
    case 'uploads':
      return serveBeginUpload(registry)
    case 'upload':
      return serveUpload(registry, call.id)
  }
}
