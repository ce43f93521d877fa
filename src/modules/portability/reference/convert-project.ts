import type { Relation } from '../../../db/portable/relation.ts'
import { type Oid, parseOid } from '../../../git/format/oid.ts'
import type { Unpacked } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import { addBoard } from './boards.ts'
import { Converter } from './converter.ts'
import { addMember } from './members.ts'
import { addMilestone, convertNoteable, type Noteables, noteableLabel, partsOf } from './noteables.ts'
import { convertPipelines } from './pipelines.ts'
import { attributesOf, settingRelations } from './project-attributes.ts'
import { addProtections } from './protections.ts'
import { addRelease } from './releases.ts'
import { addRules } from './rules.ts'
import { SnippetConverter, type SnippetFile } from './snippets.ts'
import type { ReferenceTree } from './tree.ts'
import { isRelationName, type Nested, oneIn, pick, timeOf, timesOf } from './values.ts'

/** Commits at which the source branch of a merge request was, the best first. */
const headsOf = (request: Nested): readonly Oid[] =>
  [
    request['diff_head_sha'],
    request['source_branch_sha'],
    oneIn(request, 'merge_request_diff')?.['head_commit_sha'],
  ].flatMap((value) => (typeof value === 'string' && parseOid(value)) || [])

/** What an archive of the reference product is as one of ours. */
export type Converted = {
  readonly attributes: Nested
  readonly unpacked: Unpacked
  /** Snippets that are one file, by the lines of their records. */
  readonly snippetFiles: ReadonlyMap<number, SnippetFile>
  /** Commits that may be the heads of merge requests from forks, by their numbers. */
  readonly heads: ReadonlyMap<unknown, readonly Oid[]>
  readonly leftOut: ReadonlyMap<string, number>
}

/** Converts the records of an archive of the reference product, in both of its layouts, to files in a folder: those of the relations. */
export async function convertProject(
  given: ReferenceTree,
  unpacked: Unpacked,
  { folder, relations }: { readonly folder: string; readonly relations: readonly Relation[] },
): Promise<Converted> {
  const to = new Converter(folder, relations)
  const unread = new Set(given.names)
  const tree: ReferenceTree = {
    ...given,
    of(name) {
      unread.delete(name)
      return given.of(name)
    },
  }
  for await (const member of tree.of('project_members')) await addMember(to, member, { name: 'project_members' })
  const noteables: Noteables = { to, labels: new Map(), milestones: new Map() }
  for await (const label of tree.of('labels')) await noteableLabel(noteables, label)
  for await (const milestone of tree.of('milestones'))
    await addMilestone(noteables, milestone, (milestone['group_id'] ?? null) !== null)
  for await (const issue of tree.of('issues')) await convertNoteable(noteables, 'issue', issue)
  const heads = new Map<unknown, readonly Oid[]>()
  for await (const request of tree.of('merge_requests')) {
    await convertNoteable(noteables, 'merge_request', request)
    if (request['state'] === 'opened' && request['source_project_id'] !== request['target_project_id'])
      heads.set(request['iid'], headsOf(request))
  }
  const snippets = new SnippetConverter(to, unpacked, folder)
  for await (const snippet of tree.of('snippets')) await snippets.add(snippet)
  snippets.finish()
  for await (const release of tree.of('releases')) await addRelease(noteables, release)
  await convertPipelines(to, tree.of('ci_pipelines'))
  await addProtections(to, tree)
  for await (const board of tree.of('boards')) await addBoard(to, board, partsOf(noteables))
  for await (const badge of tree.of('project_badges'))
    await to.add('badges', { ...pick(badge, 'name', 'link_url', 'image_url'), ...timesOf(badge) })
  for (const name of settingRelations)
    for await (const one of tree.of(name)) Object.assign(tree.project, { [name]: one })
  await addRules(to, tree)
  // These have no place here.
  for (const name of unread) if (isRelationName(name)) for await (const _one of given.of(name)) to.leaveOut(name)
  const createdAt = timeOf(tree.project['created_at']) ?? new Date().toISOString()
  for (const name of unpacked.keys()) {
    const [, secret, filename] = /^uploads\/([0-9a-f]{32})\/([^/]+)$/.exec(name) ?? []
    if (secret !== undefined) await to.add('uploads', { secret, filename, created_at: createdAt })
    const oid = /^lfs-objects\/([0-9a-f]{64})$/.exec(name)?.[1]
    if (oid !== undefined) await to.add('lfs_objects', { oid, created_at: createdAt })
    if (name === 'project.design.bundle') to.leaveOut('designs')
  }
  const made = await to.finish(entries.relationEntry)
  const kept = [...unpacked].filter(([name]) => !/^(tree|snippets)\//.test(name))
  const { files, bundles } = snippets.contents
  return {
    attributes: attributesOf(tree.project),
    unpacked: new Map([...kept, ...bundles, ...made]),
    snippetFiles: files,
    heads,
    leftOut: to.leftOut,
  }
}
