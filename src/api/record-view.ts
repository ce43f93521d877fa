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

const keyed = new WeakMap<RecordView, KeyedView>()

/** The view of a request with its key, computed once per request: some lists need it for each record. */
export function keyedViewOf(ctx: Readonly<RecordView>): KeyedView {
  const known = keyed.get(ctx)
  if (known) return known
  const view = viewOf(ctx)
  const made = { view, key: hash('md5', JSON.stringify(view), 'base64') }
  keyed.set(ctx, made)
  return made
}

/** An entity whose records depend only on a row and a view. */
export type CacheableEntity<Row, S extends TObject = TObject> = Omit<Entity<Row, S>, 'gather' | 'present'> & {
  readonly gather?: never
  readonly present: (row: Row, view: RecordView) => ReturnType<Entity<Row, S>['present']>
}

export const cacheableEntity = <Row, S extends TObject>(e: CacheableEntity<Row, S>): CacheableEntity<Row, S> =>
  entity(e) as CacheableEntity<Row, S>
