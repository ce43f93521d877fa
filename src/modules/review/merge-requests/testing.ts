import { contextFor, locate } from '../../../../test/contexts.ts'
import type { Client, World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type TestFile, TestRepository } from '../../../git/testing.ts'
import { bringRepository } from '../../lifecycle/forks/testing.ts'
import { openForWriting } from '../../projects/repositories/open.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { dropMergeRequestRefs } from './drop-refs-job.ts'

export type OpenedMergeRequest = {
  /** The target branch: `main`. */
  readonly project: StoredProject
  readonly id: number
  readonly iid: number
  /** Its path in the API. */
  readonly at: string
  readonly branch: string
  /** Heads of `main` and of the source branch. */
  readonly base: Oid
  readonly head: Oid
  /** The response to its creation. */
  readonly record: any
}

/** Creates a merge request with one commit, in a new project unless one is given. Other attributes are passed to the call. */
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
    /** The fork that has the branch; the target project if absent. */
    source?: StoredProject
    author?: Client
    branch?: string
    /** Changes made by its commit. */
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

/** Runs the job that is queued after the deletion of a merge request. */
export async function refsDropped(world: World, { project, iid }: OpenedMergeRequest): Promise<void> {
  for (const { payload } of await world.takeJobs(`drop_merge_request_refs:${project.id}:${iid}`))
    await dropMergeRequestRefs.run(payload, await contextFor(world, null))
}

/** Creates a fork for another user and waits for its repository. */
export async function forkOf(world: World, project: StoredProject, owner: Client): Promise<StoredProject> {
  const { id, path_with_namespace } = (await owner.post(`/projects/${project.id}/fork`)).json
  await bringRepository(world, id)
  return storedRepository(world, { id, path_with_namespace })
}

/** Opens the repository of a project, given its record. */
export async function storedRepository(
  world: World,
  { id, path_with_namespace }: { id: number; path_with_namespace: string },
): Promise<StoredProject> {
  const ctx = await world.app.open(null)
  const repo = await openForWriting(ctx, { ...(await locate(world, id)), default_branch: 'main' })
  return { id, full_path: path_with_namespace, repository: new TestRepository(repo) }
}
