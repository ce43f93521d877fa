import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FilesHold } from '../db/held-files.ts'
import type { Snapshot } from '../db/snapshot.ts'
import { isRefName } from '../git/format/ref-name.ts'
import { missingAs } from '../kernel/missing.ts'
import { type ChangeRow, currentChanges, mergeRequestHeads, type RepositoryRow, statesOf } from './queries.ts'
import { happened, targetOfMoving, targetThen } from './refs-then.ts'

/** Targets of refs by their names. */
export type Refs = Map<string, string>

export type RepositoryRefs = { readonly row: RepositoryRow; readonly refs: Refs }

/** How long to wait for a ref whose moves leave open where it was. A push that a crash interrupted is settled later. */
const settledWithinMs = 60_000

/**
 * All refs of repositories, as they were at the moment of the snapshot. The files of refs are newer: what the journal has recorded since
 * is undone. The journal is complete for a ref that no push was moving while it was read; of the others it says enough, except of those
 * that returned to where they were, which are read again.
 */
export async function refsAtMoment(
  snapshot: Snapshot,
  live: FilesHold,
  repositories: readonly { readonly row: RepositoryRow; readonly gitDir: string }[],
  problem: (text: string) => void,
): Promise<RepositoryRefs[]> {
  const found = new Map(repositories.map(({ row, gitDir }) => [nameOf(row), { row, gitDir, refs: new Map() as Refs }]))
  /** Refs whose target at the moment is not known yet, by repository; undefined before the first round: all. */
  let open: Map<string, ReadonlySet<string> | undefined> = new Map([...found.keys()].map((name) => [name, undefined]))
  const deadline = performance.now() + settledWithinMs
  for (let round = 0; open.size > 0; round++) {
    if (round > 0) await pause(Math.min(500, 20 * round))
    const isLast = performance.now() > deadline
    const asked = [...open.keys()].map((name) => found.get(name)!)
    const read = async () =>
      byRepository(
        await currentChanges(
          live,
          snapshot.takenAt,
          asked.map(({ row }) => row),
        ),
      )
    const before = await read()
    const current = new Map<string, Refs>()
    for (const { row, gitDir } of asked) current.set(nameOf(row), await readRefs(gitDir, problem))
    const after = await read()
    const ids = [...before.values(), ...after.values()].flatMap((changes) => changes.map(({ push_id }) => push_id))
    const then = await statesOf(snapshot, [...new Set(ids)])
    const left: typeof open = new Map()
    for (const [name, wanted] of open) {
      const now = current.get(name)!
      const [old, young] = [byRef(before.get(name)), byRef(after.get(name))]
      const names = wanted ?? new Set([...now.keys(), ...old.keys(), ...young.keys()])
      const moving = new Set<string>()
      for (const ref of names) {
        const changes = young.get(ref) ?? []
        const present = now.get(ref) ?? null
        const isMoving = !isQuiet(old.get(ref) ?? [], changes)
        let target = (isMoving ? targetOfMoving : targetThen)(present, changes, then)
        if (target === undefined && isMoving) {
          if (!isLast) {
            moving.add(ref)
            continue
          }
          target = targetThen(present, happened(present, changes), then)
        }
        if (target === undefined)
          problem(`${place(found.get(name)!.row)}: ${ref} has moved in a way that the journal does not explain`)
        else if (target !== null) found.get(name)!.refs.set(ref, target)
      }
      if (moving.size > 0) left.set(name, moving)
    }
    open = left
  }
  const all = [...found.values()]
  await setBackMergeRequests(snapshot, all)
  return all
}

const nameOf = ({ kind, id }: Pick<RepositoryRow, 'kind' | 'id'>): string => `${kind} ${id}`

export const place = ({ kind, id }: RepositoryRow): string =>
  kind === 'project' ? `the repository of project ${id}` : `the side repository ${id}`

const byRepository = (changes: readonly ChangeRow[]): Map<string, ChangeRow[]> =>
  Map.groupBy(changes, ({ kind, repository_id: id }) => nameOf({ kind, id }))

const byRef = (changes: readonly ChangeRow[] = []): Map<string, ChangeRow[]> => Map.groupBy(changes, ({ ref }) => ref)

/** Whether no push moved the ref between two readings of the journal: none was pending, and none has appeared. */
const isQuiet = (before: readonly ChangeRow[], after: readonly ChangeRow[]): boolean =>
  before.length === after.length &&
  after.every(
    ({ push_id, state }, index) =>
      state === 'done' && before[index]!.push_id === push_id && before[index]!.state === state,
  )

/**
 * The journal has no refs of merge requests. Their heads are in the database; those of merge requests that did not exist yet are
 * dropped.
 */
async function setBackMergeRequests(snapshot: Snapshot, repositories: readonly RepositoryRefs[]): Promise<void> {
  const projects = repositories.filter(({ row }) => row.kind === 'project')
  const heads = await mergeRequestHeads(
    snapshot,
    projects.map(({ row }) => row.id),
  )
  const headsOf = Map.groupBy(heads, ({ project_id }) => project_id)
  for (const { row, refs } of projects) {
    const known = new Map((headsOf.get(row.id) ?? []).map(({ iid, head_oid }) => [String(iid), head_oid]))
    for (const name of [...refs.keys()]) {
      const iid = /^refs\/(?:merge-requests|keep-around)\/(\d+)\//.exec(name)?.[1]
      if (iid !== undefined && !known.has(iid)) refs.delete(name)
    }
    for (const [iid, oid] of known) if (oid !== null) refs.set(`refs/merge-requests/${iid}/head`, oid)
  }
}

/** All refs of a repository; a file with another name, such as that of an editor, is none. Loose ones first: those packed meanwhile are in the packed list before their files disappear. */
async function readRefs(gitDir: string, problem: (text: string) => void): Promise<Refs> {
  const loose: Refs = new Map()
  const folders = ['refs']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(join(gitDir, folder), { withFileTypes: true }).catch(missingAs([]))) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(name)
      if (!entry.isFile() || name.endsWith('.lock')) continue
      const text = await readFile(join(gitDir, name), 'utf8').catch(missingAs(undefined))
      const oid = isRefName(name) ? /^[0-9a-f]{40}(?=\n?$)/.exec(text ?? '')?.[0] : undefined
      if (oid !== undefined) loose.set(name, oid)
      else if (text !== undefined) problem(`${join(gitDir, name)} is not the file of a ref`)
    }
  }
  const refs: Refs = new Map()
  const packed = await readFile(join(gitDir, 'packed-refs'), 'utf8').catch(missingAs(''))
  for (const line of packed.split('\n')) {
    const [, oid, name] = /^([0-9a-f]{40}) (refs\/.+)$/.exec(line) ?? []
    if (oid !== undefined && name !== undefined) refs.set(name, oid)
  }
  for (const [name, oid] of loose) refs.set(name, oid)
  return refs
}
