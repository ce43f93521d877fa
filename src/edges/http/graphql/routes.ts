import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../../access/actor.ts'
import { shareKeyOf } from '../../../access/share-key.ts'
import type { RawParams } from '../../../api/params/raw.ts'
import { invalid } from '../../../kernel/failure.ts'
import { requireTerms } from '../../../modules/instance/index.ts'
import { admit, authenticated } from '../admit.ts'
import { sendJson } from '../answer.ts'
import { type AnswerInWork, AnswersInWork, leaveOnceSent } from '../answers-in-work.ts'
import { requireScope, shownToken, sudoTarget } from '../authenticate.ts'
import { anonymousLimits } from '../body/limits.ts'
import { readBody } from '../body/read-body.ts'
import { parseUrlencoded } from '../body/urlencoded.ts'
import type { HttpContext } from '../context.ts'
import { disconnectSignal } from '../disconnect.ts'
import { beginExchange } from '../exchange.ts'
import { fail } from '../fail.ts'
import { logAnswer } from '../request-log.ts'
import type { Routes } from '../server.ts'
import { splitTarget } from '../target.ts'
import type { GraphqlRequest } from './execute.ts'

/** The queries that clients send besides requests to the REST API. It changes nothing, so `read_api` is enough. */
export const graphqlRoutes =
  (context: HttpContext): Routes =>
  (app) => {
    const answers = new AnswersInWork()
    app.route({
      method: 'POST',
      url: '/api/graphql',
      handler(request, reply) {
        reply.hijack()
        return serve(request, reply, context, answers)
      },
    })
  }

async function serve(
  request: FastifyRequest,
  reply: FastifyReply,
  context: HttpContext,
  answers: AnswersInWork,
): Promise<void> {
  const exchange = beginExchange(request, reply, context.siteUrl)
  const { remoteAddress, req } = exchange
  let caller: Caller = null
  let cleanup = async () => {}
  let work: AnswerInWork | undefined
  try {
    const settings = await context.settings.get()
    const queryParams = parseUrlencoded(splitTarget(req.url!).query ?? '')
    const visitor = { exchange, remoteAddress, settings, kind: 'api' } as const
    const token = shownToken(req.headers, queryParams)
    const admitted = await admit(token, visitor, context)
    if (admitted === undefined) return
    caller = admitted
    const body = await readBody({
      method: 'POST',
      headers: req.headers,
      body: req,
      limits: anonymousLimits,
      tmpDir: context.uploadsDir,
    })
    cleanup = body.cleanup
    // A query may ask for many long descriptions.
    work = await answers.enter(shareKeyOf(caller, remoteAddress), 'content', disconnectSignal(exchange))
    caller = await authenticated(token, visitor, context)
    const target = await sudoTarget(caller, req.headers, queryParams, context.db)
    if (target) caller = target
    else requireScope(caller, ['api', 'read_api'])
    const ctx = await context.open(caller, remoteAddress)
    if (settings.enforce_terms) await requireTerms(ctx)
    // The first query loads the library; many installations never receive one.
    const { runQuery } = await import('./execute.ts')
    sendJson(exchange, 200, await runQuery(ctx, requestOf(body.params)))
  } catch (error) {
    fail(exchange, error, context)
  } finally {
    if (work) leaveOnceSent(work, exchange)
    await cleanup()
    logAnswer(context.log, exchange, caller)
  }
}

function requestOf({ query, operationName, variables }: RawParams): GraphqlRequest {
  if (typeof query !== 'string') throw invalid('query is missing')
  if (operationName != null && typeof operationName !== 'string') throw invalid('operationName is invalid')
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables)))
    throw invalid('variables is invalid')
  return {
    query,
    operationName: operationName ?? undefined,
    variables: (variables as Record<string, unknown> | null | undefined) ?? undefined,
  }
}
