import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { FeedEntry } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import { setDefaultBranch } from '../../../git/head.ts'
import type { RefChange } from '../../../git/ref-change.ts'
import { branchName, branchRef, type RefName } from '../../../git/ref-name.ts'
import { readRefs, syncRefs } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import {
  lockProject,
  notePush,
  openRepository,
  type ProjectRow,
  type RootFiles,
  rootFilesAt,
} from '../../projects/index.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { feedOfPush } from './feed.ts'
import { deleteChanges, findPush, insertPush, type NewPush, projectOfUnsettled, settlePush } from './queries.ts'

/*
 * Refs and database are two stores. A change is first written down as intended (committed), then the refs move, then one
 * transaction settles it: what moved is marked, and what follows (events, jobs, activity) is written with it. After a
 * crash in between, settling compares the refs with what was intended. So nothing that moved is without its
 * consequences, and nothing has them twice.
 */

/** Writes down what is about to move. Returns the id to settle. One statement. */
export const intend = (ctx: Ctx, push: NewPush): Promise<number> => insertPush(ctx.db, push)

/** Ends a push of which it is known that nothing moved. */
export const drop = (ctx: Ctx, pushId: number): Promise<boolean> => ctx.transaction((tx) => settlePush(tx, pushId, []))

/** Removes changes of a push under way that are known not to have happened. */
export const forget = (ctx: Ctx, pushId: number, changes: readonly RefChange[]): Promise<number> =>
  deleteChanges(
    ctx.db,
    pushId,
    changes.map(({ name }) => name),
  )

/**
 * Compares the refs with what was intended and writes what follows, once. Changes of refs in `known` happened, wherever the refs
 * are now. Returns the changes that happened.
 */
export async function settle(
  ctx: Ctx,
  pushId: number,
  known: ReadonlySet<RefName> = new Set(),
): Promise<readonly RefChange[]> {
  const projectId = await projectOfUnsettled(ctx.db, pushId)
  if (projectId === undefined) return []
  return ctx.transaction(async (tx) => {
    // Pushes of a project settle one after the other: each sees what the others have claimed.
    const [project, push] = await Promise.all([lockProject(tx, projectId), findPush(tx, pushId)])
    if (!project || !push) return []
    const repo = openRepository(ctx, project)
    const asked = push.changes.map(({ name }) => name).filter((name) => !known.has(name))
    const read = await readRefs(repo, asked)
    const now = new Map(asked.map((name, index) => [name, read[index] ?? null]))
    const moved = push.changes.filter(
      ({ name, to, continued, claimed }) => known.has(name) || (!claimed && (continued || now.get(name) === to)),
    )
    // What moved before a crash may not be synced yet.
    await syncRefs(repo, moved)
    const settled = await settlePush(
      tx,
      pushId,
      moved.map(({ name }) => name),
    )
    if (!settled || moved.length === 0) return []
    await writeConsequences(ctx, tx, repo, project, {
      id: push.id,
      actorId: push.actor_id,
      door: push.door,
      options: push.options,
      changes: moved,
    })
    return moved
  })
}

/** The branch may have become the default one, or somebody else may have settled the push. */
const notAsThought = new Error('not as it was thought')

/**
 * As `settle`, where it is known that all changes of the push happened. Takes the default branch as the caller knows it. One round
 * trip and the commit.
 */
export async function conclude(
  ctx: Ctx,
  repo: Repository,
  push: NewPush & { id: number },
  main: string | null,
): Promise<void> {
  const { id, projectId, changes } = push
  const known = new Set(changes.map(({ name }) => name))
  if (main === null) return void (await settle(ctx, id, known))
  const told = await tell(ctx, repo, changes, main)
  try {
    await ctx.transaction(async (tx) => {
      const names = [...known]
      // The project is locked by the first that is written, as `settle` locks it first.
      const [branch, settled] = await Promise.all([write(tx, projectId, push, told), settlePush(tx, id, names)])
      if (!settled || branch !== main) throw notAsThought
    })
  } catch {
    // Of that, nothing is left, and whatever was wrong with it is asked anew.
    await settle(ctx, id, known)
  }
}

/** What follows from refs that have moved. */
async function writeConsequences(
  ctx: Ctx,
  tx: Tx,
  repo: Repository,
  project: ProjectRow,
  push: Omit<NewPush, 'projectId'> & { id: number },
): Promise<void> {
  const first = project.default_branch === null ? firstBranch(push.changes) : undefined
  if (first !== undefined) {
    await setDefaultBranch(repo, first)
    await protectFirstBranch(tx, project.id, first, ctx.settings.default_branch_protection)
  }
  const told = await tell(ctx, repo, push.changes, project.default_branch ?? first ?? null)
  await write(tx, project.id, push, { ...told, first })
}

/** What is shown of a push, and of the root of the default branch if that moved. */
type Told = {
  readonly feed: readonly FeedEntry[]
  readonly rootFiles: RootFiles | undefined
  readonly first?: string | undefined
}

async function tell(ctx: Ctx, repo: Repository, changes: readonly RefChange[], main: string | null): Promise<Told> {
  const tip = changes.find(({ name }) => branchName(name) === main)?.to ?? undefined
  return { feed: await feedOfPush(ctx, repo, main, changes), rootFiles: tip && (await rootFilesAt(repo, tip)) }
}

/** All of it goes to the database at once. Resolves with the default branch. */
async function write(
  tx: Tx,
  projectId: number,
  { id, actorId, changes }: Omit<NewPush, 'projectId'> & { id: number },
  { feed, rootFiles, first }: Told,
): Promise<string | null | undefined> {
  const [branch] = await Promise.all([
    notePush(tx, projectId, { firstBranch: first, rootFiles, refCount: changes.length }),
    emit(tx, {
      kind: 'pushed',
      projectId,
      actorId,
      payload: { push_id: id, ref_count: changes.length, default_branch_moved: rootFiles !== undefined },
      lines: feed,
    }),
  ])
  return branch
}

const preferred = ['master', 'main']

/** The branch that an empty repository begins with. What came past the rules on names is none. */
function firstBranch(moved: readonly RefChange[]): string | undefined {
  const branches = moved
    .filter(({ to }) => to !== null)
    .flatMap(({ name }) => branchName(name) ?? [])
    .filter((name) => branchRef(name))
  return preferred.find((name) => branches.includes(name)) ?? branches[0]
}
