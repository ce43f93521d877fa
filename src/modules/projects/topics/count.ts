import { visibilities } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { lockAudiences } from '../audiences/queries.ts'
import {
  addToTopics,
  lockForksAbove,
  lockProjectsWhere,
  lockSourcesOf,
  lockTopicKeys,
  type ProjectCondition,
  type TopicCount,
  takeFromTopics,
  topicCounts,
} from './count-queries.ts'

/**
 * Runs `change`, which changes topics of projects, and updates the counts of their topics. It gets the ids of the projects, which are
 * locked, and must change no others.
 */
export async function countingTopics<T>(
  tx: Tx,
  which: ProjectCondition,
  change: (ids: readonly number[]) => Promise<T>,
): Promise<T> {
  const ids = await lockProjectsWhere(tx, which)
  return counted(tx, ids, () => change(ids))
}

async function counted<T>(tx: Tx, affected: readonly number[], change: () => Promise<T>): Promise<T> {
  const before = await topicCounts(tx, affected)
  const result = await change()
  await changeCounts(tx, before, await topicCounts(tx, affected))
  return result
}

/** Shorter than other long statements: some callers hold the access lock, for which all changes of members wait. */
const audienceMs = 5 * 60_000

/**
 * As `countingTopics`, for a change of visibility or deletion: triggers write all issues and merge requests of the projects, whose `audience`
 * follows them, in the statement of the change. If it lowers visibility, `visibility` is the new one: the database then also lowers forks
 * (trigger `lower_forks`).
 */
export async function changingAudience<T>(
  tx: Tx,
  which: ProjectCondition,
  change: (ids: readonly number[]) => Promise<T>,
  visibility?: number,
): Promise<T> {
  await tx.allowLongStatements(audienceMs)
  const ids = await lockProjectsWhere(tx, which)
  const affected = visibility === undefined ? ids : await withForks(tx, ids, visibility)
  if (affected.length > 1) await lockAudiences(tx, affected, visibility ?? visibilities.private)
  return counted(tx, affected, () => change(ids))
}

/** As `changingAudience`, for a deletion, which their sources count. */
export async function hiding<T>(
  tx: Tx,
  which: ProjectCondition,
  change: (ids: readonly number[]) => Promise<T>,
): Promise<T> {
  await lockSourcesOf(tx, which)
  return changingAudience(tx, which, change)
}

/** Counts the topics of a project that this transaction created. */
export const countTopicsOfNew = async (tx: Tx, projectId: number): Promise<void> =>
  changeCounts(tx, [], await topicCounts(tx, [projectId]))

/** Projects and their forks, and the forks of those, that are more visible than `visibility`; all are locked. */
async function withForks(tx: Tx, ids: readonly number[], visibility: number): Promise<number[]> {
  const all = new Set(ids)
  // Level by level: while a project is locked, it gets no more forks.
  for (let level = ids; level.length > 0; ) {
    level = (await lockForksAbove(tx, level, visibility)).filter((id) => !all.has(id))
    for (const id of level) all.add(id)
  }
  return [...all]
}

async function changeCounts(tx: Tx, before: readonly TopicCount[], after: readonly TopicCount[]): Promise<void> {
  const changes = differences(before, after)
  if (changes.length === 0) return
  await lockTopicKeys(
    tx,
    changes.map(({ key }) => key),
  )
  const gained = changes.filter((each) => numbersOf(each).some((number) => number > 0))
  const lost = changes.filter((each) => !gained.includes(each))
  if (gained.length > 0) await addToTopics(tx, gained)
  if (lost.length > 0) await takeFromTopics(tx, lost)
}

const numbersOf = (count: TopicCount): number[] => [
  count.private_projects,
  count.internal_projects,
  count.public_projects,
]

/** What changed, without topics whose numbers are the same. */
function differences(before: readonly TopicCount[], after: readonly TopicCount[]): TopicCount[] {
  const changes = new Map(after.map((count) => [count.key, count]))
  for (const { key, name, ...old } of before) {
    const now = changes.get(key)
    changes.set(key, {
      key,
      name: now?.name ?? name,
      private_projects: (now?.private_projects ?? 0) - old.private_projects,
      internal_projects: (now?.internal_projects ?? 0) - old.internal_projects,
      public_projects: (now?.public_projects ?? 0) - old.public_projects,
    })
  }
  return [...changes.values()].filter((count) => numbersOf(count).some((number) => number !== 0))
}
