import { subject } from '../../../api/endpoint.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { isApprover } from './queries.ts'

/** A merge request with the facts that decide whether the caller may approve it. One statement more than the merge request. */
export const approvable = subject({
  ...mergeRequest,
  async load(params, ctx) {
    const found = await mergeRequest.load(params, ctx)
    if (!found || !ctx.actor) return found
    const flags = {
      ...found.facts.flags,
      author: found.author_id === ctx.actor.id,
      approver: await isApprover(ctx.db, found.id, ctx.actor.id),
    }
    return { ...found, facts: { ...found.facts, flags } }
  },
})
