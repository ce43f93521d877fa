import { gitMatcher } from './edges/git-http/serve.ts'
import { accountPages } from './edges/http/account-pages.ts'
import { appearanceRoutes } from './edges/http/appearance-routes.ts'
import { avatarRoutes } from './edges/http/avatar-routes.ts'
import type { HttpContext } from './edges/http/context.ts'
import { docsPage } from './edges/http/docs-page.ts'
import { goGetMatcher } from './edges/http/go-get.ts'
import { graphqlRoutes } from './edges/http/graphql/routes.ts'
import { homeRoutes } from './edges/http/home-routes.ts'
import type { HttpLimits } from './edges/http/limits.ts'
import { ownMetrics } from './edges/http/metrics.ts'
import { oauthRoutes } from './edges/http/oauth-routes.ts'
import { openApiRoutes } from './edges/http/openapi/routes.ts'
import { createHttpServer } from './edges/http/server.ts'
import { type SystemParts, systemRoutes } from './edges/http/system.ts'
import { uploadMatcher } from './edges/http/uploads.ts'
import { wildcardRoutes } from './edges/http/wildcard-routes.ts'
import { lfsMatcher } from './edges/lfs/serve.ts'
import { registryRoutes } from './edges/registry/routes.ts'
import { areas, endpoints } from './modules/endpoints.ts'
import { apiVersion, productVersion } from './modules/instance/index.ts'

export type HttpServer = ReturnType<typeof createHttpServer>

/** What the routes for operators read; without `metrics`, they report those of this process. */
type Parts = Omit<SystemParts, 'metrics'> & {
  readonly metrics: SystemParts['metrics'] | undefined
  readonly proxies: readonly string[]
}

/** The HTTP server with all endpoints and other routes, not listening yet. Only processes that serve HTTP load this file. */
export function openHttp(context: HttpContext, limits: HttpLimits, parts: Parts): HttpServer {
  const { plan, siteUrl } = context
  const others = [
    systemRoutes(context, { ...parts, metrics: parts.metrics ?? ownMetrics }),
    openApiRoutes({ areas, plan, version: productVersion, apiVersion, siteUrl }),
    graphqlRoutes(context),
    homeRoutes(context),
    docsPage(siteUrl),
    appearanceRoutes(context),
    avatarRoutes(context),
    oauthRoutes(context),
    accountPages(context),
    registryRoutes(context),
    wildcardRoutes(siteUrl, [
      gitMatcher(context, limits),
      lfsMatcher(context),
      uploadMatcher(context),
      goGetMatcher(context),
    ]),
  ]
  return createHttpServer(endpoints, context, others, limits, parts.proxies)
}
