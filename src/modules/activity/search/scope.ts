import type { ProjectAbility } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Variant } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import type { Page } from '../../../api/page.ts'

/** What somebody searches for, within the installation (`null`), a group or a project. */
export type Search<Within> = {
  readonly ctx: Ctx
  readonly within: Within
  /** Not blank. */
  readonly search: string
  /** Branch, tag or commit; only code looks at it. */
  readonly ref?: string
  readonly page: Page
}

/** A kind of thing that can be searched. An area that has one exports it, and `scopes.ts` lists it. */
export type SearchScope<Within> = {
  readonly name: string
  /** The forms of its records. */
  readonly returns: readonly Entity<any>[]
  /** What a search within a project asks of the caller besides seeing it. */
  readonly allow?: ProjectAbility
  find(asked: Search<Within>): Promise<Variant>
}
