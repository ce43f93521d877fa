import { hash } from 'node:crypto'
import type { TObject } from 'typebox'
import type { Viewer } from '../access/actor.ts'
import type { Plan } from '../kernel/plan.ts'
import type { Settings } from '../settings/settings.ts'
import { type Entity, entity } from './entity.ts'
import type { Site } from './site.ts'

/**
 * Everything, besides its row, that a record cached as text may depend on. All of it is part of the key of the text
 * (`keyOfView`): an entity that reads more of the request does not compile as a `CacheableEntity`.
 */
export type RecordView = {
  readonly actor: Viewer
  readonly settings: Pick<Settings, 'avatar_service_enabled'>
  readonly site: Site
  readonly plan: Plan
}

/** A view with the fields of its type and no others, whatever else `view` (a `Ctx`) carries. */
export function viewOf({ actor, settings, site, plan }: RecordView): RecordView {
  return {
    actor: actor && {
      admin: actor.admin,
      external: actor.external,
      // Which projects and groups a token is limited to, the row says (`within_limits`).
      ...(actor.limits && { limits: {} }),
    },
    settings: { avatar_service_enabled: settings.avatar_service_enabled },
    site,
    plan,
  }
}

/** A digest of the whole view. */
export const keyOfView = (view: RecordView): string => hash('md5', JSON.stringify(view), 'base64')

/** An entity whose records follow from a row and a view alone. */
export type CacheableEntity<Row, S extends TObject = TObject> = Omit<Entity<Row, S>, 'gather' | 'present'> & {
  readonly gather?: never
  readonly present: (row: Row, view: RecordView) => ReturnType<Entity<Row, S>['present']>
}

export const cacheableEntity = <Row, S extends TObject>(e: CacheableEntity<Row, S>): CacheableEntity<Row, S> =>
  entity(e) as CacheableEntity<Row, S>
