import { createHash } from 'node:crypto'
import type { RecordView } from '../../../api/record-view.ts'
import type { Site } from '../../../api/site.ts'
import type { AvatarOwner } from './queries.ts'

/** What the picture of a person follows from. */
export type Pictured = { id: number; avatar: string | null; email: string }

/** Where an uploaded picture is served; null without one. */
export const pictureUrl = (site: Site, owner: AvatarOwner, id: number, filename: string | null): string | null =>
  filename === null ? null : `${site.url}/uploads/-/system/${owner}/avatar/${id}/${filename}`

/** The picture that the avatar service has for an address, twice as wide as `points` for dense screens. */
export function gravatarUrl(email: string, { settings }: Pick<RecordView, 'settings'>, points = 40): string | null {
  if (!settings.avatar_service_enabled) return null
  // The avatar services of the world name pictures by the MD5 of the address.
  const md5 = createHash('md5').update(email.trim().toLowerCase()).digest('hex')
  return `https://www.gravatar.com/avatar/${md5}?s=${points * 2}&d=identicon`
}

/** The user's own picture, else the avatar service's by e-mail address, else null. */
export const avatarUrl = ({ id, avatar, email }: Pictured, ctx: Pick<RecordView, 'site' | 'settings'>): string | null =>
  pictureUrl(ctx.site, 'user', id, avatar) ?? gravatarUrl(email, ctx)
