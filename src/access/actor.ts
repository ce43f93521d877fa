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
  /** Set when it is no person but a deploy token. Then `id` is 0, which is nobody's, so that no query takes it for one. */
  readonly deployToken?: { readonly id: number; readonly creatorId: number | null }
}

/** Whoever calls: somebody, or nobody known. */
export type Caller = Actor | null
