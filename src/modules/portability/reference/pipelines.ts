import type { Converter } from './converter.ts'
import { addNote } from './notes.ts'
import { listIn, type Nested, pick, scalar, timeOf, timesOf } from './values.ts'

/** Adds the pipelines of a project with their jobs, and the comments of commits, which are in the pipelines of the commits. */
export async function convertPipelines(to: Converter, pipelines: AsyncIterable<Nested>): Promise<void> {
  const numbers = { used: new Set<number>(), next: 1 }
  const commented = new Set<unknown>()
  for await (const pipeline of pipelines) {
    await addPipeline(to, pipeline, numbers)
    const notes = listIn(pipeline, 'notes')
    const sha = scalar(pipeline['sha'])
    // All pipelines of a commit have the same.
    if (notes.length === 0 || commented.has(sha)) continue
    commented.add(sha)
    const commit = await to.add('commented_commits', { commit: sha, title: String(sha).slice(0, 8) })
    if (commit === undefined) to.leaveOut('commit_notes', notes.length)
    else for (const note of notes) await addNote(to, 'commit', { commit }, note)
  }
}

/** Numbers that pipelines have, and one from which free ones are looked for. */
type Numbers = { readonly used: Set<number>; next: number }

/** Older pipelines have no number: they get free ones, as one whose number was given to them. */
async function addPipeline(to: Converter, pipeline: Nested, numbers: Numbers): Promise<void> {
  const given = Number.isSafeInteger(pipeline['iid']) ? Number(pipeline['iid']) : undefined
  while (numbers.used.has(numbers.next)) numbers.next++
  const iid = given === undefined || numbers.used.has(given) ? numbers.next : given
  numbers.used.add(iid)
  const line = await to.add('ci_pipelines', {
    iid,
    ...pick(pipeline, 'sha', 'ref', 'status', 'duration'),
    tag: pipeline['tag'] ?? false,
    source: typeof pipeline['source'] === 'string' ? pipeline['source'] : 'external',
    user: to.userOf(pipeline['user_id']),
    ...timesOf(pipeline),
    started_at: timeOf(pipeline['started_at']),
    finished_at: timeOf(pipeline['finished_at']),
  })
  if (line === undefined) return
  const all = listIn(pipeline, 'stages').flatMap((stage) =>
    listIn(stage, 'statuses').map((status) => ({ stage, status, name: scalar(status['name']) })),
  )
  const latest = new Map(all.map(({ name, status }) => [name, status]))
  for (const { stage, status, name } of all)
    await to.add('statuses', {
      pipeline: line,
      ref: status['ref'] ?? pipeline['ref'],
      ...pick(status, 'name', 'status', 'target_url', 'description', 'coverage', 'allow_failure', 'failure_reason'),
      retried: status['retried'] === true || latest.get(name) !== status,
      stage: status['stage'] ?? stage['name'],
      stage_index: status['stage_idx'],
      user: to.userOf(status['user_id']),
      created_at: timeOf(status['created_at']),
      queued_at: timeOf(status['queued_at']),
      started_at: timeOf(status['started_at']),
      finished_at: timeOf(status['finished_at']),
    })
}
