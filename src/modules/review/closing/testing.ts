import { contextFor } from '../../../../test/contexts.ts'
import type { World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { noteablesInTexts } from '../../discussion/cross-references/jobs.ts'
import { commitsInTexts } from '../../repository/commit-references/jobs.ts'
import { referToNamedByCommits } from '../cross-references/jobs.ts'
import { closeIssuesOfMerged, findClosingIssues } from './jobs.ts'

const jobs = [
  noteablesInTexts.ofDescription,
  noteablesInTexts.ofNote,
  commitsInTexts.ofDescription,
  commitsInTexts.ofNote,
  findClosingIssues,
  closeIssuesOfMerged,
  referToNamedByCommits,
]

/** Runs the waiting jobs that search texts for mentions and for issues to close. Returns them, to be run again. */
export async function readTexts(world: World): Promise<{ again(): Promise<void> }> {
  const ctx = await contextFor(world, null)
  const run: (() => Promise<void>)[] = []
  for (const job of jobs)
    for (const { payload } of await world.takeJobs(`${job.name}:%`)) run.push(() => job.run(payload as never, ctx))
  const all = async () => {
    for (const each of run) await each()
  }
  await all()
  return { again: all }
}

let files = 0

/** Commits a new file to a branch through the API, as the first administrator. */
export async function commitTo(world: World, projectId: number, branch: string, message: string, start = 'main') {
  const made = await world.root.post(`/projects/${projectId}/repository/commits`, {
    branch,
    ...(start !== branch && { start_branch: start }),
    commit_message: message,
    actions: [{ action: 'create', file_path: `file-${files++}`, content: 'x' }],
  })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  return made.json.id as Oid
}
