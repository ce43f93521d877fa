import { subject } from '../../../api/endpoint.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { findApprover } from './queries.ts'

/** A merge request with the facts that decide whether the caller may approve it. One statement more than the merge request. */
export const approvable = subject({
  ...mergeRequest,
  async load(params, ctx) {
    const found = await mergeRequest.load(params, ctx)
    if (!found || !ctx.actor) return found
    const row = await findApprover(ctx.db, found.id, ctx.actor.id)
    const flags = {
      ...found.facts.flags,
      approver: row?.approver ?? false,
      excluded: row?.excluded ?? false,
    }
    return { ...found, facts: { ...found.facts, flags } }
  },
})
