import type { Scope } from './scopes.ts'

/** What acts without being a person, and who made it. */
type Machine = { readonly id: number; readonly creatorId: number | null }

/** Somebody who is known and may act. Blocked accounts never become one. */
export type Actor = {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  /** What his commits say instead, if he chose something (modules/accounts/users/commit-email.ts). */
  readonly commitEmail?: string
  readonly admin: boolean
  /** Sees only what memberships give: internal things are hidden. */
  readonly external: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  /** What the credential allows; `undefined` when the account itself was shown (password, our own jobs). */
  readonly scopes: ReadonlySet<Scope> | undefined
  /** The access token that was shown, if one was. */
  readonly tokenId: number | undefined
  /** The administrator who acts for this account, and with which token. */
  readonly sudo?: { readonly id: number; readonly tokenId: number | undefined }
  /** Beyond these projects and groups the token reaches nothing (`allows`); absent when it is not limited. */
  readonly limits?: { readonly projects: readonly number[]; readonly groups: readonly number[] }
  /** Set of an account made for a token of a project or group, with the user who made that. */
  readonly bot?: { readonly creatorId: number | null }
  /** Set when it is no person but a deploy key. Then `id` is 0, which is nobody's, so that no query takes it for one. */
  readonly deployKey?: Machine
  /** The same for a deploy token. */
  readonly deployToken?: Machine
}

/** The account that what somebody does is written down for: of a deploy key or token, that of who made it. */
export function accountOf(actor: Actor): number | null {
  const machine = actor.deployKey ?? actor.deployToken
  return machine ? machine.creatorId : actor.id
}

/** From where the caller's transactions come, for the audit log. */
export const originOf = (
  caller: Caller,
  address: string | undefined,
): { address: string | undefined; tokenId: number | undefined; impersonatorId: number | undefined } => ({
  address,
  tokenId: caller?.sudo ? caller.sudo.tokenId : caller?.tokenId,
  impersonatorId: caller?.sudo?.id,
})

/** Who makes a request; null when anonymous. */
export type Caller = Actor | null

/** What policies look at of a caller; null when anonymous. `limits` counts by being there. */
export type Viewer = {
  readonly admin: boolean
  readonly external: boolean
  readonly limits?: object | undefined
} | null
