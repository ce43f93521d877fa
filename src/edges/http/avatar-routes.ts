import { allows } from '../../access/policy.ts'
import type { Scope } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { notFound } from '../../kernel/failure.ts'
import { user } from '../../modules/accounts/index.ts'
import { group } from '../../modules/groups/index.ts'
import { type AvatarOwner, findAvatar } from '../../modules/namespaces/index.ts'
import { findTopic, project } from '../../modules/projects/index.ts'
import type { HttpContext } from './context.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { openForFiles } from './open-for-files.ts'
import { logAnswer } from './request-log.ts'
import type { Routes } from './server.ts'
import { sendPicture } from './stored-picture.ts'

/** Whether the caller may see the owner of the avatar, by the usual policies. */
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

/** Avatars of users, groups, projects and topics, at the URLs in their records. */
export const avatarRoutes =
  (context: HttpContext): Routes =>
  (app) => {
    app.route<{ Params: { owner: string; id: string; filename: string } }>({
      method: ['GET', 'HEAD'],
      url: '/uploads/-/system/:owner/avatar/:id/:filename',
      async handler(request, reply) {
        reply.hijack()
        const exchange = beginExchange(request, reply, context.siteUrl)
        const { owner, id, filename } = request.params
        let ctx: Ctx | undefined
        try {
          const scopes: readonly Scope[] = owner === 'user' ? ['api', 'read_api', 'read_user'] : ['api', 'read_api']
          ctx = await openForFiles(exchange, request.ip, context, scopes)
          if (!ctx) return
          if (!owners.has(owner) || !/^\d{1,15}$/.test(id) || filename.includes('\0')) throw notFound('Avatar')
          const kind = owner as AvatarOwner
          const avatar = (await isVisible(kind, Number(id), ctx))
            ? await findAvatar(ctx.db, kind, Number(id), filename)
            : undefined
          const sent =
            avatar && (await sendPicture(exchange, ctx.blobs, { digest: avatar.avatar_digest, filename }, 'private'))
          if (!sent) throw notFound('Avatar')
        } catch (error) {
          fail(exchange, error, context)
        } finally {
          logAnswer(context.log, exchange, ctx?.actor ?? null)
        }
      },
    })
  }
