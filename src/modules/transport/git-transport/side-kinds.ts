import type { Ctx } from '../../../api/ctx.ts'
import type { SideKind, SideSubject } from '../../pushes/index.ts'
import { groupWikiAccess, projectWikiAccess, snippetAccess } from '../../text/index.ts'

/** The kinds of side repositories that git clients reach. A path is of at most one kind. */
const sideKinds: readonly SideKind[] = [projectWikiAccess, groupWikiAccess, snippetAccess]

/** A side repository with its kind. */
export type SideTarget = { readonly kind: SideKind; readonly subject: SideSubject }

/** The side repository at a path. No statement unless the path is of a kind. */
export async function findSide(ctx: Ctx, path: string): Promise<SideTarget | undefined> {
  for (const kind of sideKinds) {
    const subject = await kind.find(ctx, path)
    if (subject) return { kind, subject }
  }
  return undefined
}
