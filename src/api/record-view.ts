import { hash } from 'node:crypto'
import type { TObject } from 'typebox'
import type { Viewer } from '../access/actor.ts'
import type { Plan } from '../kernel/plan.ts'
import type { Settings } from '../settings/settings.ts'
import { type Entity, entity } from './entity.ts'
import type { Site } from './site.ts'

/**
 * Everything besides its row that a cached record may depend on. All of it is part of the cache key (`keyedViewOf`): an entity
 * that reads more of the request does not compile as a `CacheableEntity`.
 */
export type RecordView = {
  readonly actor: Viewer
  readonly settings: Pick<Settings, 'avatar_service_enabled' | 'time_tracking_limit_to_hours'>
  readonly site: Site
  readonly plan: Plan
}

/** Copies only the fields of the type, whatever else `view` (a `Ctx`) contains. */
function viewOf({ actor, settings, site, plan }: RecordView): RecordView {
  return {
    actor: actor && {
      admin: actor.admin,
      external: actor.external,
      // The row contains whether a limited token covers it (`within_limits`).
      ...(actor.limits && { limits: {} }),
    },
    settings: {
      avatar_service_enabled: settings.avatar_service_enabled,
      time_tracking_limit_to_hours: settings.time_tracking_limit_to_hours,
    },
    site,
    plan,
  }
}

/** A view, and a digest of all of it. */
export type KeyedView = { readonly view: RecordView; readonly key: string }

/** What `viewOf` reads of an actor and of the plan, as text. */
const callerOf = ({ actor, plan }: Readonly<RecordView>): string =>
  `${plan} ${actor && `${actor.admin} ${actor.external} ${actor.limits !== undefined}`}`

/** Views for settings and a site, which are objects that never change; each by `callerOf`. */
type Views = { readonly site: Site; readonly byCaller: Map<string, KeyedView> }
const known = new WeakMap<RecordView['settings'], Views>()

/** The view of a request with its key, which many requests share. */
export function keyedViewOf(ctx: Readonly<RecordView>): KeyedView {
  let views = known.get(ctx.settings)
  if (views?.site !== ctx.site) {
    views = { site: ctx.site, byCaller: new Map() }
    known.set(ctx.settings, views)
  }
  const caller = callerOf(ctx)
  const found = views.byCaller.get(caller)
  if (found) return found
  const view = viewOf(ctx)
  const made = { view, key: hash('md5', JSON.stringify(view), 'base64') }
  views.byCaller.set(caller, made)
  return made
}

/** An entity whose records depend only on a row and a view. */
export type CacheableEntity<Row, S extends TObject = TObject> = Omit<Entity<Row, S>, 'gather' | 'present'> & {
  readonly gather?: never
  readonly present: (row: Row, view: RecordView) => ReturnType<Entity<Row, S>['present']>
}

export const cacheableEntity = <Row, S extends TObject>(e: CacheableEntity<Row, S>): CacheableEntity<Row, S> =>
  entity(e) as CacheableEntity<Row, S>
