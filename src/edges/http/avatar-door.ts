import { allows } from '../../access/policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { contentTypeOf } from '../../areas/avatars/image.ts'
import { type AvatarOwner, findAvatar } from '../../areas/avatars/queries.ts'
import { group } from '../../areas/groups/subject.ts'
import { project } from '../../areas/projects/subject.ts'
import { requireTerms } from '../../areas/terms/service.ts'
import { findTopic } from '../../areas/topics/queries.ts'
import { user } from '../../areas/users/subject.ts'
import { notFound } from '../../kernel/failure.ts'
import { sendBody } from './answer.ts'
import { callerOf, shownToken } from './authenticate.ts'
import { parseQuery } from './body/urlencoded.ts'
import type { Doors } from './doors.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './mount.ts'
import { refusedByLimits } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'
import type { Door } from './server.ts'

/** Whether the caller may know of whom the picture is of: the same policies as everywhere. */
async function isVisible(owner: AvatarOwner, id: number, ctx: Ctx): Promise<boolean> {
  const visible = async <P>(
    what: {
      load(params: P, ctx: Ctx): Promise<{ facts: Parameters<typeof allows>[2] } | undefined>
      policy: any
      visible: string
    },
    params: P,
  ) => {
    const found = await what.load(params, ctx)
    return found !== undefined && allows(what.policy[what.visible], ctx.actor, found.facts)
  }
  if (owner === 'user') return visible(user, { id })
  if (owner === 'topic') return (await findTopic(ctx.db, ctx.actor, id)) !== undefined
  return owner === 'group' ? visible(group, { id: String(id) }) : visible(project, { id: String(id) })
}

const owners = new Set(['user', 'group', 'project', 'topic'])

/** Pictures of people, groups, projects and topics, at the addresses that records show. */
export const avatarDoor =
  (doors: Doors): Door =>
  (app) => {
    app.route<{ Params: { owner: string; id: string; filename: string } }>({
      method: ['GET', 'HEAD'],
      url: '/uploads/-/system/:owner/avatar/:id/:filename',
      async handler(request, reply) {
        reply.hijack()
        const exchange = beginExchange(request.raw, reply.raw, doors.siteUrl)
        const { owner, id, filename } = request.params
        try {
          const token = shownToken(request.raw.headers, parseQuery(request.raw.url!.split('?', 2)[1] ?? ''))
          const ctx = await doors.open(await callerOf(token, doors.authenticator), request.ip)
          if (await refusedByLimits(exchange, ctx, ctx.actor, request.ip, 'web')) return
          await requireTerms(ctx)
          if (!owners.has(owner) || !/^\d{1,15}$/.test(id) || filename.includes('\0')) throw notFound('Avatar')
          const kind = owner as AvatarOwner
          const avatar = (await isVisible(kind, Number(id), ctx))
            ? await findAvatar(ctx.db, kind, Number(id), filename)
            : undefined
          const blob = avatar && (await ctx.blobs.get(avatar.avatar_digest))
          if (!blob) throw notFound('Avatar')
          await sendBody(exchange, 200, blob.body, {
            'content-type': contentTypeOf(filename),
            'content-length': blob.sizeBytes,
            'content-disposition': `inline; filename="${filename}"`,
            'content-security-policy': "sandbox; default-src 'none'",
            'cache-control': 'max-age=3600, private',
          })
        } catch (error) {
          fail(exchange, error, doors)
        } finally {
          logAnswer(doors.log, exchange, null)
        }
      },
    })
  }
