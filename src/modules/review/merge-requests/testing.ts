import { locate } from '../../../../test/contexts.ts'
import type { Client, World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type TestFile, TestRepository } from '../../../git/testing.ts'
import { bringRepository } from '../../lifecycle/forks/testing.ts'
import { openForWriting } from '../../projects/repositories/open.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'

export type OpenedMergeRequest = {
  /** Into which it is to be merged: `main`. */
  readonly project: StoredProject
  readonly id: number
  readonly iid: number
  /** Its address in the API. */
  readonly at: string
  readonly branch: string
  /** Heads of `main` and of the branch. */
  readonly base: Oid
  readonly head: Oid
  /** The answer to its making. */
  readonly record: any
}

/**
 * A merge request of one commit, in a project that is made unless one is given. Attributes beside those named here go to the
 * call.
 */
export async function openMergeRequest(
  world: World,
  {
    project: given,
    visibility = 'public',
    members = [],
    source,
    author = world.root,
    branch = 'topic',
    files = { b: 'b\n' },
    ...attributes
  }: {
    project?: StoredProject
    visibility?: Visibility
    members?: readonly [Client, Level][]
    /** The fork that has the branch; the project itself without. */
    source?: StoredProject
    author?: Client
    branch?: string
    /** What its commit changes. */
    files?: Record<string, TestFile>
    [attribute: string]: unknown
  } = {},
): Promise<OpenedMergeRequest> {
  const project = given ?? (await storedProject(world, { visibility, members }))
  const { repository } = project
  const known = repository.git('for-each-ref', '--format=%(objectname)', 'refs/heads/main') as Oid | ''
  const base = known || repository.commit({ a: 'a\n' })
  const from = source ?? project
  const head = from.repository.commit(files, { branch, parents: [base], message: `Change ${branch}\n` })
  const made = await author.post(`/projects/${from.id}/merge_requests`, {
    source_branch: branch,
    target_branch: 'main',
    title: `Merge ${branch}`,
    ...(source && { target_project_id: project.id }),
    ...attributes,
  })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  const { id, iid } = made.json
  return {
    project,
    id,
    iid,
    at: `/projects/${project.id}/merge_requests/${iid}`,
    branch,
    base,
    head,
    record: made.json,
  }
}

/** A fork of somebody's, with all that is in the repository now. */
export async function forkOf(world: World, project: StoredProject, owner: Client): Promise<StoredProject> {
  const { id, path_with_namespace } = (await owner.post(`/projects/${project.id}/fork`)).json
  await bringRepository(world, id)
  return storedRepository(world, { id, path_with_namespace })
}

/** A project with its repository, by the record of the project. */
export async function storedRepository(
  world: World,
  { id, path_with_namespace }: { id: number; path_with_namespace: string },
): Promise<StoredProject> {
  const ctx = await world.app.open(null)
  const repo = await openForWriting(ctx, { ...(await locate(world, id)), default_branch: 'main' })
  return { id, full_path: path_with_namespace, repository: new TestRepository(repo) }
}
