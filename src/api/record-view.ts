import { hash } from 'node:crypto'
import type { TObject } from 'typebox'
import type { Viewer } from '../access/actor.ts'
import type { Plan } from '../kernel/plan.ts'
import type { Settings } from '../settings/settings.ts'
import { type Entity, entity } from './entity.ts'
import type { Site } from './site.ts'

/**
 * Everything besides its row that a cached record may depend on. All of it is part of the cache key (`keyOfView`): an entity
 * that reads more of the request does not compile as a `CacheableEntity`.
 */
export type RecordView = {
  readonly actor: Viewer
  readonly settings: Pick<Settings, 'avatar_service_enabled'>
  readonly site: Site
  readonly plan: Plan
}

/** Copies only the fields of the type, whatever else `view` (a `Ctx`) contains. */
export function viewOf({ actor, settings, site, plan }: RecordView): RecordView {
  return {
    actor: actor && {
      admin: actor.admin,
      external: actor.external,
      // The row contains whether a limited token covers it (`within_limits`).
      ...(actor.limits && { limits: {} }),
    },
    settings: { avatar_service_enabled: settings.avatar_service_enabled },
    site,
    plan,
  }
}

/** A digest of the whole view. */
export const keyOfView = (view: RecordView): string => hash('md5', JSON.stringify(view), 'base64')

/** An entity whose records depend only on a row and a view. */
export type CacheableEntity<Row, S extends TObject = TObject> = Omit<Entity<Row, S>, 'gather' | 'present'> & {
  readonly gather?: never
  readonly present: (row: Row, view: RecordView) => ReturnType<Entity<Row, S>['present']>
}

export const cacheableEntity = <Row, S extends TObject>(e: CacheableEntity<Row, S>): CacheableEntity<Row, S> =>
  entity(e) as CacheableEntity<Row, S>
