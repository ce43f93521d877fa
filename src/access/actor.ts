import type { Scope } from './scopes.ts'

/** Somebody who is known and may act. Blocked accounts never become one. */
export type Actor = {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
  /** Sees only what memberships give: internal things are hidden. */
  readonly external: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  /** What the credential allows; `undefined` when the account itself was shown (password, our own jobs). */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** The access token that was shown, if one was. */
  readonly tokenId: number | undefined
  /** Set when it is no person but a deploy key. Then `id` is 0, which is nobody's, so that no query takes it for one. */
  readonly deployKey?: { readonly id: number; readonly creatorId: number | null }
}

/** The account that what somebody does is written down for: of a deploy key, that of who made it. */
export const accountOf = (actor: Actor): number | null => (actor.deployKey ? actor.deployKey.creatorId : actor.id)

/** Whoever calls: somebody, or nobody known. */
export type Caller = Actor | null
