import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { SideHolder, SideKindName, SideRepository } from './queries.ts'

/** A side repository as git clients reach it, with what the caller may do. */
export type SideSubject = {
  readonly holder: SideHolder
  /** Undefined before the first write to a wiki. */
  readonly row: SideRepository | undefined
  /** Its current path without `.git`. A push to a former path is refused. */
  readonly fullPath: string
  /** Whether the caller may know that it exists. */
  readonly isVisible: boolean
  readonly mayFetch: boolean
  readonly mayPush: boolean
  /** Error messages for callers who may see it, but not fetch or push. */
  readonly refusals: { readonly fetch: string; readonly push: string }
  /**
   * Rules of this kind about a push, beyond those of every repository: the reason of a refusal. `objects` resolves with the
   * repository and the new objects.
   */
  readonly violation?: (
    changes: readonly RefChange[],
    objects: () => Promise<Repository>,
  ) => Promise<string | undefined>
}

/** How git clients reach the side repositories of a kind. Transports have the list of all kinds. */
export type SideKind = {
  readonly kinds: readonly SideKindName[]
  /** Undefined if the path, without `.git`, is not of this kind, or if there is nothing at it. */
  find(ctx: Ctx, path: string): Promise<SideSubject | undefined>
  /** The same by its holder, with current facts: a push may take so long that the caller has lost access. */
  load(ctx: Ctx, holder: SideHolder): Promise<SideSubject | undefined>
}
