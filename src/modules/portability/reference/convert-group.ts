import { basename, join } from 'node:path'
import { deepestNesting } from '../../groups/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { maxGroups } from '../layout/limits.ts'
import * as entries from '../layout/names.ts'
import { groupRelations } from '../layout/relations.ts'
import { jsonOf } from '../records/json.ts'
import { LineFile } from '../records/write-records.ts'
import { addBoard, type BoardParts } from './boards.ts'
import { Converter } from './converter.ts'
import { addEpics } from './epics.ts'
import { type GroupTree, keyOf, labelIn, milestoneIn, type PlacedGroup } from './group-tree.ts'
import { addMember } from './members.ts'
import { maxJsonBytes } from './tree.ts'
import { isRelationName, listIn, type Nested, pick, scalar, timesOf } from './values.ts'

const groupEntry = 'group.json'

/** Where a group has its subgroups. */
const nestings = ['children', 'descendants'] as const

/** Relations that have a place here. Those of other names are counted. */
const known: ReadonlySet<string> = new Set([
  ...nestings,
  'members',
  'labels',
  'milestones',
  'badges',
  'boards',
  'epics',
])

const creationOfProjects = ['noone', 'maintainer', 'developer']
const creationOfGroups = ['owner', 'maintainer']

/** A level is its number in a list of names, or the name. */
const named = (names: readonly string[], value: unknown): unknown => (typeof value === 'number' ? names[value] : value)

const attributesOf = (group: Nested, parent: number | undefined): Nested => ({
  parent,
  ...pick(
    group,
    'path',
    'name',
    'description',
    'share_with_group_lock',
    'membership_lock',
    'require_two_factor_authentication',
    'two_factor_grace_period',
    'auto_devops_enabled',
    'emails_disabled',
    'mentions_disabled',
    'lfs_enabled',
    'request_access_enabled',
  ),
  visibility: group['visibility_level'],
  project_creation_level: named(creationOfProjects, group['project_creation_level']),
  subgroup_creation_level: named(creationOfGroups, group['subgroup_creation_level']),
})

/** What an archive of the reference product has of a group, as one of ours. */
export type ConvertedGroup = { readonly unpacked: Unpacked; readonly leftOut: ReadonlyMap<string, number> }

/**
 * Converts the `group.json` of an archive of the reference product to files in a folder. Undefined without one. The object is parsed in
 * memory.
 */
export async function convertGroup(unpacked: Unpacked, folder: string): Promise<ConvertedGroup | undefined> {
  const file = unpacked.get(groupEntry)
  if (!file) return undefined
  const tree: GroupTree = { to: new Converter(folder, groupRelations), labels: new Map(), milestones: new Map() }
  const { to } = tree
  const groups = placedGroups(await jsonOf(file, groupEntry, maxJsonBytes), to)
  const records = new LineFile(join(folder, 'converted-groups'))
  for (const { group, parent } of groups)
    await records.add([
      JSON.stringify(attributesOf(group, parent?.line), (key, value) => (key === '' ? value : scalar(value))),
    ])
  // Later records name members by their ids.
  for (const { group, line } of groups)
    for (const member of listIn(group, 'members'))
      await addMember(to, member, { name: 'members', within: { group: line } })
  for (const placed of groups) await addPlans(tree, placed)
  for (const placed of groups) await addBoards(tree, placed)
  await addEpics(tree, groups)
  const made = await to.finish(entries.groupRelationEntry)
  const avatar = [...unpacked].find(([name]) => name.startsWith('avatar/'))
  const avatars = avatar ? [[entries.groupAvatarEntry(1, basename(avatar[0])), avatar[1]] as const] : []
  return {
    unpacked: new Map([...made, ...avatars, [entries.groupsEntry, { path: records.path, size: records.bytes }]]),
    leftOut: to.leftOut,
  }
}

/** A group and its nested children, parents first. */
function placedGroups(root: Nested, to: Converter): readonly PlacedGroup[] {
  const placed: PlacedGroup[] = [{ group: root, line: 1, depth: 1, parent: undefined }]
  // The list grows while it is read.
  for (const parent of placed)
    for (const group of nestings.map((name) => listIn(parent.group, name)).find((all) => all.length > 0) ?? [])
      if (typeof group['name'] !== 'string' || typeof group['path'] !== 'string' || parent.depth >= deepestNesting)
        to.leaveOut('children')
      else if (placed.length >= maxGroups) throw new ArchiveRefusal(`${groupEntry} has more than ${maxGroups} groups`)
      else placed.push({ group, line: placed.length + 1, depth: parent.depth + 1, parent })
  return placed
}

/** Labels, milestones and badges of a group. */
async function addPlans(tree: GroupTree, placed: PlacedGroup): Promise<void> {
  const { to } = tree
  const { group, line } = placed
  const labels = listIn(group, 'labels')
  for (const label of labels) await labelIn(tree, { ...placed, parent: undefined }, label)
  for (const milestone of listIn(group, 'milestones')) {
    const made = await to.add('milestones', {
      group: line,
      ...pick(milestone, 'iid', 'title', 'description', 'state', 'start_date', 'due_date'),
      ...timesOf(milestone),
    })
    if (made !== undefined) tree.milestones.set(keyOf(placed, milestone['title']), made)
  }
  for (const badge of listIn(group, 'badges'))
    await to.add('badges', { group: line, ...pick(badge, 'name', 'link_url', 'image_url'), ...timesOf(badge) })
  for (const name of Object.keys(group))
    if (!known.has(name) && isRelationName(name)) to.leaveOut(name, listIn(group, name).length)
}

async function addBoards(tree: GroupTree, placed: PlacedGroup): Promise<void> {
  const parts: BoardParts = {
    labelOf: (label) => labelIn(tree, placed, label),
    milestoneOf: async (milestone) => milestoneIn(tree, placed, milestone),
  }
  for (const board of listIn(placed.group, 'boards')) await addBoard(tree.to, board, parts, { group: placed.line })
}
