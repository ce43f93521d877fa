import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit, type FeedEntry } from '../../../events/log.ts'
import { setDefaultBranch } from '../../../git/head.ts'
import type { RefChange } from '../../../git/ref-change.ts'
import { branchName, branchRef } from '../../../git/ref-name.ts'
import { readRefs } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import {
  countLanguagesLater,
  lockProject,
  openRepository,
  type ProjectRow,
  type RootFiles,
  refreshLater,
  rootFilesAt,
} from '../../projects/index.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { feedOfPush } from './feed.ts'
import {
  deleteChanges,
  findPush,
  insertPush,
  type NewPush,
  notePush,
  projectOfUnsettled,
  settlePush,
} from './queries.ts'

/*
 * Refs and database are two stores. A change is first written down as intended (committed), then the refs move, then one
 * transaction settles it: what moved is marked, and what follows (events, jobs, activity) is written with it. After a
 * crash in between, settling compares the refs with what was intended. So nothing that moved is without its
 * consequences, and nothing has them twice.
 */

/** Maximum refs named in events; the journal has all of them. */
const namedRefs = 100

/** Writes down what is about to move. Returns the id to settle. One statement. */
export const intend = (ctx: Ctx, push: NewPush): Promise<number> => insertPush(ctx.db, push)

/** Ends a push of which it is known that nothing moved. */
export const drop = (ctx: Ctx, pushId: number): Promise<boolean> => ctx.transaction((tx) => settlePush(tx, pushId, []))

/**
 * Crosses out what git is going to refuse because the ref is no longer where the client saw it: somebody else may have
 * made the very same change. Asked after `intend`, so that whoever moves the ref later is known to have come later.
 */
export async function forgetStale(
  ctx: Ctx,
  repo: Repository,
  pushId: number,
  changes: readonly RefChange[],
): Promise<void> {
  const now = await readRefs(
    repo,
    changes.map(({ name }) => name),
  )
  const stale = changes.filter(({ from }, index) => (now[index] ?? null) !== from)
  if (stale.length > 0)
    await deleteChanges(
      ctx.db,
      pushId,
      stale.map(({ name }) => name),
    )
}

/** Compares the refs with what was intended and writes what follows, once. Returns the changes that happened. */
export async function settle(ctx: Ctx, pushId: number): Promise<readonly RefChange[]> {
  const projectId = await projectOfUnsettled(ctx.db, pushId)
  if (projectId === undefined) return []
  return ctx.transaction(async (tx) => {
    // Pushes of a project settle one after the other: each sees what the others have claimed.
    const [project, push] = await Promise.all([lockProject(tx, projectId), findPush(tx, pushId)])
    if (!project || !push) return []
    const repo = openRepository(ctx, project)
    const now = await readRefs(
      repo,
      push.changes.map(({ name }) => name),
    )
    const moved = push.changes.filter(
      ({ to, continued, claimed }, index) => !claimed && (continued || (now[index] ?? null) === to),
    )
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
 * As `settle`, for who has moved all refs of a push himself and need not look, given the default branch as he knows it. One round
 * trip and the commit.
 */
export async function conclude(
  ctx: Ctx,
  repo: Repository,
  push: NewPush & { id: number },
  main: string | null,
): Promise<void> {
  if (main === null) return void (await settle(ctx, push.id))
  const { id, projectId, changes } = push
  const told = await tell(ctx, repo, changes, main)
  try {
    await ctx.transaction(async (tx) => {
      const names = changes.map(({ name }) => name)
      // The project is locked by the first that is written, as `settle` locks it first.
      const [branch, settled] = await Promise.all([write(tx, projectId, push, told), settlePush(tx, id, names)])
      if (!settled || branch !== main) throw notAsThought
    })
  } catch {
    // Of that, nothing is left, and whatever was wrong with it is asked anew.
    await settle(ctx, id)
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
  { id, actorId, door, options, changes }: Omit<NewPush, 'projectId'> & { id: number },
  { feed, rootFiles, first }: Told,
): Promise<string | null | undefined> {
  const [branch] = await Promise.all([
    notePush(tx, projectId, { firstBranch: first, rootFiles, refCount: changes.length }),
    emit(tx, {
      kind: 'pushed',
      projectId,
      actorId,
      payload: {
        push_id: id,
        door,
        options,
        ref_count: changes.length,
        refs: changes.slice(0, namedRefs).map(({ name, from, to }) => ({ name, from, to })),
      },
      feed,
    }),
    refreshLater(tx, projectId),
    rootFiles && countLanguagesLater(tx, projectId),
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
