import type { Ctx } from '../../api/ctx.ts'
import { httpUrlToRepo, sshUrlToRepo } from '../../api/site.ts'
import { escaped } from '../../kernel/html.ts'
import { findProjectAround, gitAccess, repositoryPath } from '../../modules/transport/index.ts'
import { type Exchange, sendText } from './answer.ts'
import { authenticateGit, denialAnswer } from './authenticate-git.ts'
import type { HttpContext } from './context.ts'
import { fail } from './fail.ts'
import { refusedByLimits } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'
import { sitePathOf } from './target.ts'
import type { RouteMatcher } from './wildcard-routes.ts'

const address = new RegExp(`^/${repositoryPath}/?\\?(?:[^#]*&)?go-get=1(?:&|$)`)

/**
 * Responds to the go tool with the repository of a package: the project at or above the path, if the caller may fetch it.
 * Otherwise derives the repository from the path alone, so that the response does not reveal whether a project exists.
 */
export const goGetMatcher =
  (context: HttpContext): RouteMatcher =>
  (method, url) => {
    const path = method === 'GET' ? address.exec(url)?.[1] : undefined
    if (path === undefined) return undefined
    return {
      route: '/*?go-get=1',
      serve: (exchange, remoteAddress) => serve(exchange, path, remoteAddress, context),
    }
  }

async function serve(exchange: Exchange, path: string, remoteAddress: string, context: HttpContext): Promise<void> {
  let ctx: Ctx | undefined
  try {
    const shown = await authenticateGit(exchange.req.headers.authorization, context, remoteAddress)
    ctx = await context.open('denied' in shown ? null : shown.caller, remoteAddress)
    if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return
    if ('denied' in shown) {
      const { status, message, headers } = denialAnswer(shown, context.siteUrl)
      const asked = status === 401 ? { 'www-authenticate': 'Basic realm="Stithy"' } : {}
      return sendText(exchange, status, `${message}\n`, {
        'content-type': 'text/plain; charset=utf-8',
        ...headers,
        ...asked,
      })
    }
    sendText(exchange, 200, pageOf(ctx, (await repositoryAround(ctx, path)) ?? looksLike(path)), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'max-age=0, private, must-revalidate',
    })
  } catch (error) {
    fail(exchange, error, context)
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
  }
}

/** The part of the path, in its original case, that is a project the caller may fetch. */
async function repositoryAround(ctx: Ctx, path: string): Promise<string | undefined> {
  const found = await findProjectAround(ctx.db, path)
  if (found === undefined) return undefined
  const repository = path.slice(0, found.length)
  const access = await gitAccess(ctx, repository, 'git-upload-pack', transportOf(ctx))
  return 'target' in access ? repository : undefined
}

const transportOf = ({ settings }: Ctx) => (settings.enabled_git_access_protocol === 'ssh' ? 'ssh' : 'http')

/** Assumes a project directly below a group or user, as most are. */
const looksLike = (path: string): string => path.split('/', 2).join('/')

function pageOf(ctx: Ctx, repository: string): string {
  const name = `${new URL(ctx.site.url).host}${sitePathOf(ctx.site.url)}/${repository}`
  const from = transportOf(ctx) === 'ssh' ? sshUrlToRepo(ctx.site, repository) : httpUrlToRepo(ctx.site, repository)
  const content = escaped(`${name} git ${from}`)
  return `<!DOCTYPE html>\n<html><head><meta name="go-import" content="${content}"></head><body>go get ${escaped(name)}</body></html>\n`
}
