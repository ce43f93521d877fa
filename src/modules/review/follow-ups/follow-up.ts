import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import { resolveHeld } from '../../discussion/index.ts'
import type { FindFollowUp } from '../../planning/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { findMergeRequest, touchMergeRequest } from '../merge-requests/queries.ts'
import { mergeRequest, mergeRequestFacts } from '../merge-requests/subject.ts'
import { type UnresolvedRow, unresolvedOf } from './queries.ts'

/** Finds what a new issue takes over from the discussions of a merge request. They stay open if the caller may not resolve them. */
export const followUpOf: FindFollowUp = async (ctx, project, { mergeRequestIid, discussionId }) => {
  const row = await findMergeRequest(ctx.db, ctx.actor, project.id, mergeRequestIid)
  const facts = row && mergeRequestFacts(row, project)
  if (!row || !facts || !allows(mergeRequestPolicy.read_merge_request, ctx.actor, facts)) return undefined
  const discussions = await unresolvedOf(ctx.db, row.id, discussionId)
  const mayResolve = allows(mergeRequestPolicy.resolve_discussion, ctx.actor, facts)
  const page = `${ctx.site.url}/${project.full_path}/-/merge_requests/${row.iid}`
  return {
    description: descriptionOf(discussions, row.iid, page),
    async resolve(tx) {
      if (!mayResolve || discussions.length === 0 || !(await touchMergeRequest(tx, row.id))) return
      const path = { id: String(project.id), merge_request_iid: row.iid }
      if (!(await allowsNow(mergeRequest, 'resolve_discussion', path, ctx, tx))) return
      const noteable = { ...asNoteable(row), iid: row.iid }
      for (const { discussion_id } of discussions)
        await resolveHeld(tx, noteable, { discussionId: discussion_id }, ctx.actor!.id)
    },
  }
}

function descriptionOf(discussions: readonly UnresolvedRow[], iid: number, page: string): string {
  if (discussions.length === 0) return 'There are no unresolved discussions'
  const noun = discussions.length === 1 ? 'discussion' : 'discussions'
  const items = discussions.map((discussion) => itemOf(discussion, page))
  return [`The following ${noun} from !${iid} should be addressed:`, ...items].join('\n\n')
}

/** A task, with a quote of the first unresolved note. */
function itemOf({ note_id, username, body, first, others }: UnresolvedRow, page: string): string {
  const action = first ? 'started' : 'commented on'
  const more = others > 0 ? ` (+${others} ${others === 1 ? 'comment' : 'comments'})` : ''
  const quote = body.split('\n').map((line) => `    > ${line}`)
  return [`- [ ] @${username} ${action} a [discussion](${page}#note_${note_id}):${more}`, quote.join('\n')].join('\n\n')
}
