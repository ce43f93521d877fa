import { type Caller, originOf } from './access/actor.ts'
import { shareKeyOf } from './access/share-key.ts'
import type { Ctx, OfRequest } from './api/ctx.ts'
import { withCloneUrl } from './api/site.ts'
import { type Config, repositoriesDir } from './config.ts'
import { reactBy } from './events/reaction.ts'
import type { Parts } from './parts.ts'
import { reactions } from './reactions.ts'

/** Opens the context of a request, job or session. */
export type OpenContext = (caller: Caller, remoteAddress?: string, request?: OfRequest) => Promise<Ctx>

/** Contexts have the parts of a process, each with the share of the caller, and the settings of the moment. */
export function contextsOf(config: Config, parts: Parts): OpenContext {
  const { db, notifications, settings, blobs, downloads, git, mailer, registry, texts, inputTexts } = parts
  const react = reactBy(reactions)
  return async (caller, remoteAddress, { signal, snapshot, userAgent, eventSource } = {}) => {
    const now = await settings.get()
    const share = shareKeyOf(caller, remoteAddress)
    return {
      actor: caller,
      db: db.for(share, { signal, snapshot }),
      transaction: (work) =>
        db.transaction(
          (tx) => work({ ...tx, origin: originOf(caller, remoteAddress), share, react, notifications }),
          share,
        ),
      git,
      blobs: downloads.of(blobs, share, signal),
      mailer,
      repositoriesDir: repositoriesDir(config),
      settings: now,
      site: withCloneUrl(parts.site, now.custom_http_clone_url_root),
      registry,
      plan: config.plan,
      impersonation: config.impersonation,
      texts,
      inputTexts,
      markdown: parts.markdown,
      secrets: parts.secrets,
      log: parts.log,
      remoteAddress,
      shareKey: share,
      userAgent,
      eventSource,
      signal,
    }
  }
}
