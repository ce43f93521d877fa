import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { RecordView } from '../../../api/record-view.ts'
import type { Site } from '../../../api/site.ts'
import type { AvatarOwner } from './queries.ts'

/** The columns that determine a user's avatar. */
export type Pictured = { id: number; avatar: string | null; email: string }

/** URL of an uploaded avatar; null without one. */
export const pictureUrl = (site: Site, owner: AvatarOwner, id: number, filename: string | null): string | null =>
  filename === null ? null : `${site.url}/uploads/-/system/${owner}/avatar/${id}/${filename}`

/** Digests of the addresses that were shown last: a page of comments shows few people many times. */
const digests = new LRUCache<string, string>({ max: 4096 })

/** Avatar services identify pictures by the MD5 of the address. */
function digestOf(email: string): string {
  const known = digests.get(email)
  if (known !== undefined) return known
  const digest = hash('md5', email.trim().toLowerCase(), 'hex')
  digests.set(email, digest)
  return digest
}

/** URL of the avatar service's picture for an address. It is twice as large as `points`, for high-density screens. */
export function gravatarUrl(email: string, { settings }: Pick<RecordView, 'settings'>, points = 40): string | null {
  if (!settings.avatar_service_enabled) return null
  return `https://www.gravatar.com/avatar/${digestOf(email)}?s=${points * 2}&d=identicon`
}

/** URL of the user's uploaded avatar, else of the avatar service by e-mail address, else null. */
export const avatarUrl = ({ id, avatar, email }: Pictured, ctx: Pick<RecordView, 'site' | 'settings'>): string | null =>
  pictureUrl(ctx.site, 'user', id, avatar) ?? gravatarUrl(email, ctx)
