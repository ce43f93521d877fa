import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Actor } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo } from '../../../api/site.ts'
import type { Db } from '../../../db/db.ts'
import { credentialOf, type DerivedCredential } from '../../accounts/index.ts'
import { signingKey } from './queries.ts'

export type Operation = 'download' | 'upload'

/** Account or key that a credential was issued to. */
export type Holder =
  /** The token or password of a user. */
  | DerivedCredential
  /** The SSH key of a user. */
  | { readonly sshKeyId: number }
  | { readonly deployKeyId: number }
  | { readonly deployTokenId: number }

/** A project, or the path, in lower case, of one that the first upload creates. */
export type GrantedProject = { readonly id: number } | { readonly newPath: string }

/** Content of a credential: its holder, a project and an operation on its large files. `upload` includes `download`. */
export type Grant = {
  readonly holder: Holder
  readonly project: GrantedProject
  readonly operation: Operation
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** Long enough for the transfers between two batch requests; checked at the beginning of a transfer only. */
const lifetimeSeconds = 30 * 60
/** Maximum clock difference between machines. */
const toleranceSeconds = 60

const signed = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const form =
  /^(([kst]?)(\d{1,15})\.(\d{1,15}|v[0-9a-f]{32})?\.(\d{1,15}|p[\w-]+)\.(download|upload)\.(\d{1,12}))\.([\w-]{43})$/

function holderOf(actor: Actor): Holder {
  const { deployKey, deployToken } = actor
  if (deployKey) return { deployKeyId: deployKey.id }
  return deployToken ? { deployTokenId: deployToken.id } : credentialOf(actor)
}

/** `7.31` is token 31 of account 7, `7.v` and a version its password, `s7.` the SSH key of a user, `k7.` a deploy key and `t7.` a deploy token. */
function holderParts(holder: Holder): readonly (string | number)[] {
  if ('deployKeyId' in holder) return [`k${holder.deployKeyId}`, '']
  if ('sshKeyId' in holder) return [`s${holder.sshKeyId}`, '']
  if ('deployTokenId' in holder) return [`t${holder.deployTokenId}`, '']
  return [holder.userId, holder.tokenId ?? `v${holder.passwordVersion ?? ''}`]
}

/** Undefined for a user without either, as an earlier release wrote it: the password may have been changed since. */
function parseHolder(kind: string, id: string, by: string | undefined): Holder | undefined {
  if (kind === 'k') return { deployKeyId: Number(id) }
  if (kind === 's') return { sshKeyId: Number(id) }
  if (kind === 't') return { deployTokenId: Number(id) }
  if (by === undefined) return undefined
  return by.startsWith('v')
    ? { userId: Number(id), tokenId: undefined, passwordVersion: by.slice(1) }
    : { userId: Number(id), tokenId: Number(by) }
}

/** `12` is a project, `p` and a path in base64 a new one. */
const projectPart = (project: GrantedProject): string =>
  'id' in project ? String(project.id) : `p${Buffer.from(project.newPath).toString('base64url')}`

const parseProject = (part: string): GrantedProject =>
  part.startsWith('p') ? { newPath: Buffer.from(part.slice(1), 'base64url').toString() } : { id: Number(part) }

/** Whether a credential was issued for a path that had no project. */
export const isForNew = ({ project }: Grant, path: string): boolean =>
  'newPath' in project && project.newPath === path.toLowerCase()

async function issue(ctx: Ctx, { holder, project, operation, expiresAt }: Grant): Promise<string> {
  const text = [...holderParts(holder), projectPart(project), operation, expiresAt].join('.')
  return `${text}.${signed(await signingKey(ctx.db, 'large_files'), text).toString('base64url')}`
}

/** What a credential grants, or why it is refused: `unknown` if it is forged, `expired` if it is not valid now. */
export async function readCredential(db: Db, credential: string): Promise<Grant | 'unknown' | 'expired'> {
  const parts = form.exec(credential)
  if (!parts) return 'unknown'
  const [, text, kind, id, by, project, operation, expiresAt, mac] = parts as unknown as string[]
  const expected = signed(await signingKey(db, 'large_files'), text!)
  if (!timingSafeEqual(expected, Buffer.from(mac!, 'base64url'))) return 'unknown'
  const secondsLeft = Number(expiresAt) - Date.now() / 1000
  const holder = parseHolder(kind!, id!, by)
  if (!holder) return 'unknown'
  // More than the lifetime is left if the clock was set back: the credential must not stay valid for hours because of
  // that.
  if (secondsLeft <= 0 || secondsLeft > lifetimeSeconds + toleranceSeconds) return 'expired'
  return {
    holder,
    project: parseProject(project!),
    operation: operation as Operation,
    expiresAt: Number(expiresAt),
  }
}

/** Credentials as the batch API and `git-lfs-authenticate` return them. */
export type Credentials = {
  /** URL of the project's large-file API; ends in `/info/lfs`. */
  readonly href: string
  readonly header: { readonly Authorization: string }
  /** Seconds. */
  readonly expires_in: number
}

/** What the caller authenticated with, if it is not their token or password. */
export type DerivedFrom = Pick<Grant, 'holder'> & Partial<Pick<Grant, 'expiresAt'>>

/** A group may require a second factor since, which is asked at a sign-in only: what was derived from a password ends with the first credential. */
const isOfPassword = (holder: Holder): boolean => 'userId' in holder && holder.tokenId === undefined

/**
 * Issues a short-lived credential of the caller, who must be authenticated, for the large files of one project. Check
 * the policy first: each use checks the policy, the account and its token, password or key again, but nothing else. Valid in every
 * process and across restarts. Without an id, the project is one that the first upload creates.
 */
export async function largeFileCredentials(
  ctx: Ctx,
  { id, full_path }: { readonly id?: number; readonly full_path: string },
  operation: Operation,
  from?: DerivedFrom,
): Promise<Credentials> {
  const holder = from?.holder ?? holderOf(ctx.actor!)
  const now = Math.floor(Date.now() / 1000)
  const latest = from?.expiresAt !== undefined && isOfPassword(holder) ? from.expiresAt : Number.POSITIVE_INFINITY
  const expiresAt = Math.min(now + lifetimeSeconds, latest)
  const project = id === undefined ? { newPath: full_path.toLowerCase() } : { id }
  return {
    href: `${httpUrlToRepo(ctx.site, full_path)}/info/lfs`,
    header: { Authorization: `Bearer ${await issue(ctx, { holder, project, operation, expiresAt })}` },
    expires_in: expiresAt - now,
  }
}
