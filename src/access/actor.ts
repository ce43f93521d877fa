import type { Scope } from './scopes.ts'

/** A credential without a user, and its creator. */
type Machine = { readonly id: number; readonly creatorId: number | null }

/** An authenticated caller that may act. Blocked accounts never become one. */
export type Actor = {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  /** Email address for commits, if the user chose one (modules/accounts/users/commit-email.ts). */
  readonly commitEmail?: string
  readonly admin: boolean
  /** Sees only what memberships grant; internal projects and groups are hidden. */
  readonly external: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  /** Scopes of the credential; `undefined` for the account itself (password, internal jobs). */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** ID of the access token used, if any. */
  readonly tokenId: number | undefined
  /** Identifies the password that was used, if one was. Another password, or none, has another one. */
  readonly passwordVersion?: string
  /** Set if signing in or an administrator made that token: it may not be exchanged for a token of the user's own. */
  readonly borrowed?: 'oauth' | 'impersonation'
  /** The administrator who impersonates this account, and the token used. */
  readonly sudo?: { readonly id: number; readonly tokenId: number | undefined }
  /** Projects and groups to which the token is limited (`allows`); absent if it is not limited. */
  readonly limits?: { readonly projects: readonly number[]; readonly groups: readonly number[] }
  /** Set for the bot account of a project or group token, with the user who created the token. */
  readonly bot?: { readonly creatorId: number | null }
  /** Set if the caller is a deploy key. `id` is then 0, which no user has, so that no query matches a user. */
  readonly deployKey?: Machine
  /** Set if the caller is a deploy token. `id` of the actor is then 0 as well. */
  readonly deployToken?: Machine
}

/** The account to which actions are attributed; for a deploy key or token its creator. */
export function accountOf(actor: Actor): number | null {
  const machine = actor.deployKey ?? actor.deployToken
  return machine ? machine.creatorId : actor.id
}

/** Origin of the caller's transactions, for the audit log. */
export const originOf = (
  caller: Caller,
  address: string | undefined,
): { address: string | undefined; tokenId: number | undefined; impersonatorId: number | undefined } => ({
  address,
  tokenId: caller?.sudo ? caller.sudo.tokenId : caller?.tokenId,
  impersonatorId: caller?.sudo?.id,
})

/** The caller of a request; null if anonymous. */
export type Caller = Actor | null

/** The facts about a caller that policies use; null if anonymous. Policies check only whether `limits` is set. */
export type Viewer = {
  readonly admin: boolean
  readonly external: boolean
  readonly limits?: object | undefined
} | null
