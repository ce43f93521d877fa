import type { ProjectAbility } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Variant } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import type { Page } from '../../../api/page.ts'

/** A search within the installation (`null`), a group or a project. */
export type Search<Within> = {
  readonly ctx: Ctx
  readonly within: Within
  /** Not blank. */
  readonly search: string
  /** Branch, tag or commit; used by code searches only. */
  readonly ref?: string
  readonly page: Page
}

/** A kind of record that can be searched. The module of the record exports it, and `scopes.ts` lists it. */
export type SearchScope<Within> = {
  readonly name: string
  /** Entities of its results. */
  readonly returns: readonly Entity<any>[]
  /** Ability that a search within a project needs, besides seeing the project. */
  readonly allow?: ProjectAbility
  find(asked: Search<Within>): Promise<Variant>
}
