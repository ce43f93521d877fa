import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { readersAmong } from '../../discussion/index.ts'
import { findMilestoneByTitle, labelTitleViolations } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { type PushOptions, type Repeated, shown } from '../../pushes/index.ts'
import { accountsNamed } from './queries.ts'

export type MergeRequestOptions = NonNullable<PushOptions['merge_request']>

/** What options ask for that requires push access to the target, by id. */
export type Wish = {
  readonly labels: readonly string[]
  readonly unlabels: readonly string[]
  readonly assignees: readonly number[]
  readonly unassigned: readonly number[]
  readonly milestoneId: number | undefined
  readonly warnings: readonly string[]
}

const noWish: Wish = {
  labels: [],
  unlabels: [],
  assignees: [],
  unassigned: [],
  milestoneId: undefined,
  warnings: [],
}

const namesOf = (values: Repeated | undefined): string[] => Object.keys(values ?? {})

/**
 * Finds the labels, users and the milestone that options name, with the rules of the API: without push access to the target they
 * are not changed. At most three statements.
 */
export async function findWish(ctx: Ctx, target: ProjectSubject, options: MergeRequestOptions): Promise<Wish> {
  const { label, unlabel, assign, unassign, milestone } = options
  if (!label && !unlabel && !assign && !unassign && milestone === undefined) return noWish
  if (!allows(mergeRequestPolicy.admin_merge_request, ctx.actor, target.facts))
    return {
      ...noWish,
      warnings: [`Labels, assignees and the milestone are not set: you cannot push to ${target.full_path}.`],
    }
  const [assigned, unassigned, milestoneId] = await Promise.all([
    findAccounts(ctx, namesOf(assign)),
    findAccounts(ctx, namesOf(unassign)),
    milestone === undefined ? undefined : findMilestoneByTitle(ctx.db, target.id, milestone),
  ])
  const readers = new Set(await readersAmong(ctx.db, 'MergeRequest', target.id, [...assigned.values()]))
  const labels = namesOf(label)
  const assignees = [...new Set(assigned.values())].filter((id) => readers.has(id))
  return {
    labels: labels.filter((title) => labelTitleViolations(title).length === 0),
    unlabels: namesOf(unlabel),
    assignees,
    unassigned: [...new Set(unassigned.values())],
    milestoneId,
    warnings: [
      ...labels
        .filter((title) => labelTitleViolations(title).length > 0)
        .map((title) => `A label cannot be called ${shown(title)}.`),
      ...namesOf(assign)
        .filter((name) => !readers.has(assigned.get(name) ?? 0))
        .map((name) => `The user ${shown(name)} cannot be assigned.`),
      ...namesOf(unassign)
        .filter((name) => !unassigned.has(name))
        .map((name) => `The user ${shown(name)} is not assigned.`),
      ...(milestone !== undefined && milestoneId === undefined
        ? [`Milestone ${shown(milestone)} does not exist.`]
        : []),
      ...(assignees.length > 1 && !planOffers(ctx.plan, 'starter') ? ['Only one user can be assigned.'] : []),
    ],
  }
}

/** The ids of accounts by the names in the options: an id, or a username with or without `@`. Unknown usernames are left out. */
async function findAccounts(ctx: Ctx, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ids = names.filter((name) => /^\d{1,15}$/.test(name))
  const usernames = new Map(names.filter((name) => !ids.includes(name)).map((name) => [name, usernameOf(name)]))
  const found = usernames.size > 0 ? await accountsNamed(ctx.db, [...usernames.values()]) : []
  const byName = new Map(found.map(({ id, username }) => [username, id]))
  return new Map([
    ...ids.map((id) => [id, Number(id)] as const),
    ...[...usernames].flatMap(([name, username]) => {
      const id = byName.get(username)
      return id === undefined ? [] : [[name, id] as const]
    }),
  ])
}

const usernameOf = (name: string): string => name.replace(/^@/, '').toLowerCase()
