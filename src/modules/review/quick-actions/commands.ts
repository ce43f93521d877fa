import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import { alsoAsking } from '../../../api/also-asking.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden, rowNotFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { ActionsInTransaction, QuickActions } from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import {
  type ActingProject,
  assigneesNamed,
  type Command,
  commandSet,
  lockNamedMilestones,
  type Right,
  removeFromList,
  replaceList,
  type ScheduledCommanded,
  type SharedEdit,
  sharedCommands,
  usersNamed,
} from '../../planning/index.ts'
import { openRepository } from '../../projects/index.ts'
import { approve, unapprove } from '../approvals/service.ts'
import { approvable } from '../approvals/subject.ts'
import type { MergeRequestEdit } from '../merge-requests/edit.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { tracked } from '../merge-requests/tracked.ts'
import { editCurrent } from '../merging/edit-current.ts'
import { readBranch } from '../merging/heads.ts'
import { merge } from '../merging/merge-service.ts'
import { notMergeable } from '../merging/mergeable.ts'
import { requestRebase } from '../merging/rebase.ts'

type Edit = SharedEdit & { -readonly [K in keyof Omit<MergeRequestEdit, keyof SharedEdit>]: MergeRequestEdit[K] }
type Subject = ScheduledCommanded<Edit> & { readonly mergeRequest: MergeRequestSubject }
type MergeRequestCommand = Command<Edit, Subject>

const abilities = {
  read: 'read_merge_request',
  update: 'update_merge_request',
  admin: 'admin_merge_request',
  reopen: 'update_merge_request',
  award: 'award',
} as const satisfies Record<Right, keyof typeof mergeRequestPolicy>

/** The merge request as it is now, with the facts about approvals: an action before may have changed it. */
async function reload(ctx: Ctx, { iid, project_id }: MergeRequestSubject): Promise<MergeRequestSubject> {
  const found = await approvable.load({ id: String(project_id), merge_request_iid: iid }, ctx)
  if (!found) throw rowNotFound()
  return found
}

const may = (ctx: Ctx, ability: keyof typeof mergeRequestPolicy, { facts }: MergeRequestSubject): boolean =>
  allows(mergeRequestPolicy[ability], ctx.actor, facts)

const drafting = (names: readonly string[], draft: boolean): MergeRequestCommand => ({
  names,
  needs: 'update',
  plan({ edit }) {
    edit.draft = draft
    return { says: `Marked this merge request as ${draft ? 'a draft' : 'ready'}.` }
  },
})

const targetBranch: MergeRequestCommand = {
  names: ['target_branch'],
  needs: 'update',
  async plan({ ctx, subject, argument, edit }) {
    if (!(await readBranch(openRepository(ctx, subject.project), argument))) return undefined
    edit.target_branch = argument
    return { says: `Set target branch to ${argument}.` }
  },
}

const reviewers = { all: 'reviewer_ids', added: 'add_reviewer_ids', removed: 'remove_reviewer_ids' } as const

const requestReview: MergeRequestCommand = {
  names: ['assign_reviewer', 'reviewer', 'request_review'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    const { ids, text, addTo } = await assigneesNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    addTo(edit, reviewers, ids)
    return { says: `Requested a review from ${text}.` }
  },
}

const removeReviewer: MergeRequestCommand = {
  names: ['unassign_reviewer', 'remove_reviewer'],
  needs: 'admin',
  async plan({ ctx, subject, argument, edit }) {
    if (argument === '') {
      replaceList(edit, reviewers, [])
      return { says: 'Removed all reviewers.' }
    }
    const { ids, text } = await usersNamed(ctx, subject, argument)
    if (ids.length === 0) return undefined
    removeFromList(edit, reviewers, ids)
    return { says: `Removed the request to ${text} to review.` }
  },
}

/** The context in which an action runs that has an endpoint of its own, with the ability that this declares after a wait, too. */
const asIn = (ctx: Ctx, ability: keyof typeof mergeRequestPolicy, found: MergeRequestSubject): Ctx =>
  alsoAsking(ctx, async (now) => {
    if (!may(now, ability, await reload(now, found))) throw forbidden()
  })

/** Approves the head that the author of the text saw last: the current one. */
const approveIt: MergeRequestCommand = {
  names: ['approve'],
  needs: 'read',
  async plan({ ctx, subject }) {
    const current = await reload(ctx, subject.mergeRequest)
    if (!planOffers(ctx.plan, 'starter') || !may(ctx, 'approve', current)) return undefined
    return {
      says: 'Approved the current merge request.',
      run: (context) => approve(asIn(context, 'approve', current), current, { sha: undefined, password: undefined }),
    }
  },
}

const unapproveIt: MergeRequestCommand = {
  names: ['unapprove'],
  needs: 'read',
  async plan({ ctx, subject }) {
    const current = await reload(ctx, subject.mergeRequest)
    if (!planOffers(ctx.plan, 'starter') || !may(ctx, 'unapprove', current)) return undefined
    return {
      says: 'Unapproved the current merge request.',
      run: (context) => unapprove(asIn(context, 'unapprove', current), current),
    }
  },
}

/** The protection of the target branch decides in `merge`. */
const mergeIt: MergeRequestCommand = {
  names: ['merge'],
  needs: 'read',
  plan({ ctx, subject: { mergeRequest: found } }) {
    if (!may(ctx, 'merge', found)) return undefined
    return {
      says: 'Merged this merge request.',
      run: async (context) => {
        const current = await mergeRequest.load({ id: String(found.project_id), merge_request_iid: found.iid }, context)
        if (!current) throw rowNotFound()
        const sha = found.head_oid ?? undefined
        await merge(context, current, { merge_when_pipeline_succeeds: false, ...(sha !== undefined && { sha }) })
        // A rule for pushes may have refused: then it has a `merge_error`.
        if ((await reload(context, found)).state !== 'merged') throw notMergeable()
      },
    }
  },
}

const rebaseIt: MergeRequestCommand = {
  names: ['rebase'],
  needs: 'read',
  plan({ ctx, subject: { mergeRequest: found } }) {
    if (!may(ctx, 'rebase', found)) return undefined
    return {
      says: `Scheduled a rebase of branch ${found.source_branch}.`,
      run: (context) => requestRebase(asIn(context, 'rebase', found), found),
    }
  },
}

const commands = commandSet<Edit, Subject>([
  ...sharedCommands,
  drafting(['draft', 'wip'], true),
  drafting(['ready'], false),
  targetBranch,
  requestReview,
  removeReviewer,
  approveIt,
  unapproveIt,
  mergeIt,
  rebaseIt,
])

/** Their names. */
export const mergeRequestActionNames: ReadonlySet<string> = commands.names

/**
 * What the actions of a merge request of a project need. A new target branch, and an open one again, bring commits; both protect them by
 * refs. A rebase needs the target branch and the state that others of the text ask for.
 */
export const mergeRequestActionLocks = (project: ActingProject): ActionsInTransaction => ({
  outside: new Set(['merge', 'rebase', 'target_branch', 'reopen']),
  async lock(tx, ctx, actions) {
    await holdPlace(tx, { of: 'project', id: project.id })
    await lockNamedMilestones(tx, ctx, project, actions)
  },
})

/** The quick actions of a merge request, with the facts of the caller. */
export const mergeRequestActions = (subject: MergeRequestSubject): QuickActions =>
  commands.of(
    {
      noteable: { ...asNoteable(subject), iid: subject.iid },
      noun: 'merge request',
      tracked: tracked(subject),
      project: subject.project,
      place: { of: 'project', id: subject.project.id, full_path: subject.project.full_path },
      state: subject.state,
      may: (ctx, right) => may(ctx, abilities[right], subject),
      mayNow: async (ctx, right) => may(ctx, abilities[right], await reload(ctx, subject)),
      update: (ctx, edit) => editCurrent(ctx, subject, edit),
      mergeRequest: subject,
    },
    mergeRequestActionLocks(subject.project),
  )
