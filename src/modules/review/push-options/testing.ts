import { join } from 'node:path'
import {
  type Client,
  git,
  gitMessages,
  type TestProject,
  temporaryFolder,
  unique,
  type World,
} from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import { bringRepository } from '../../lifecycle/forks/testing.ts'

export type WorkingCopy = {
  readonly project: TestProject
  /** The folder of the clone. */
  readonly work: string
  /** The path of the merge requests of the project in the API. */
  readonly at: string
}

/** A clone of a project by a user; `main` has one commit. */
async function cloneOf(world: World, folder: string, project: TestProject, who: Client): Promise<WorkingCopy> {
  const work = join(folder, unique('work'))
  await git(folder, 'clone', '-q', world.remote(project, who), work)
  return { project, work, at: `/projects/${project.id}/merge_requests` }
}

/** A project with one commit on `main`, and a clone by one of its members. */
export async function workingCopy(
  world: World,
  folder: string,
  who: Client,
  {
    visibility = 'public',
    members = [[who, 'maintainer']],
  }: { visibility?: Visibility; members?: readonly [Client, Level][] } = {},
): Promise<WorkingCopy> {
  const project = await world.project({ visibility, members })
  const commit = {
    branch: 'main',
    commit_message: 'First',
    actions: [{ action: 'create', file_path: 'a', content: '' }],
  }
  const made = await world.root.post(`/projects/${project.id}/repository/commits`, commit)
  if (made.status !== 201) throw new Error(made.text)
  return cloneOf(world, folder, project, who)
}

/** A fork by a user of a project of others with one commit on `main`, and a clone of the fork. */
export async function forkedCopy(
  world: World,
  folder: string,
  who: Client,
  members: readonly [Client, Level][] = [],
): Promise<{ theirs: WorkingCopy; copy: WorkingCopy }> {
  const theirs = await workingCopy(world, folder, world.root, { members })
  const { id, path_with_namespace, http_url_to_repo } = (await who.post(`/projects/${theirs.project.id}/fork`)).json
  await bringRepository(world, id)
  const fork = { ...theirs.project, id, full_path: path_with_namespace, url: http_url_to_repo }
  return { theirs, copy: await cloneOf(world, folder, fork, who) }
}

/** Creates a branch with one commit on top of `main`, or on top of the branch if it exists. */
export async function commitOn({ work }: WorkingCopy, branch: string, message = `Change ${branch}`): Promise<void> {
  await git(work, 'switch', '-q', branch).catch(() => git(work, 'switch', '-q', '-c', branch, 'origin/main'))
  await git(work, 'commit', '-q', '--allow-empty', '-m', message)
}

/** Pushes to `origin` with options; resolves with the lines that the server sent. */
export async function push({ work }: WorkingCopy, refs: readonly string[], ...options: string[]): Promise<string[]> {
  return serverLines(await gitMessages(work, 'push', ...options.flatMap((option) => ['-o', option]), 'origin', ...refs))
}

/** What git prints after `remote: `, without empty lines. */
export const serverLines = (messages: string): string[] =>
  messages
    .split('\n')
    .flatMap((line) => (line.startsWith('remote: ') ? [line.slice('remote: '.length).trimEnd()] : []))
    .filter((line) => line !== '')

/** A maintainer with a clone, and the branch `topic`, which is not pushed yet. */
export async function withTopic(
  world: World,
  { message, members = [] }: { message?: string; members?: readonly [Client, Level][] } = {},
) {
  const folder = await temporaryFolder()
  const ann = await world.user()
  const copy = await workingCopy(world, folder.path, ann, { members: [[ann, 'maintainer'], ...members] })
  await commitOn(copy, 'topic', message)
  return { ann, copy, folder: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

/** The merge requests of a project, newest first. */
export const mergeRequests = async (who: Client, { at }: WorkingCopy): Promise<any[]> => (await who.get(at)).json

export const warnings = (...lines: string[]) => ['WARNINGS:', ...lines]

/** The lines of a push that begin with the block of warnings, without the links after it. */
export const warningsOf = (lines: readonly string[]) =>
  lines.filter((line) => !/^(To create a|View) merge request for |^ {2}http/.test(line))
