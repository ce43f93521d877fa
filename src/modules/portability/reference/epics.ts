import { type GroupTree, labelIn, type PlacedGroup, upwards } from './group-tree.ts'
import { convertSurroundings } from './noteables.ts'
import { listIn, type Nested, oneIn, pick, scalar, timeOf, timesOf } from './values.ts'

type PlacedEpic = { readonly epic: Nested; readonly placed: PlacedGroup }

/** Adds the epics of all groups, parents first. One that is its own ancestor has no parent. */
export async function addEpics(tree: GroupTree, groups: readonly PlacedGroup[]): Promise<void> {
  const all = groups.flatMap((placed) => listIn(placed.group, 'epics').map((epic): PlacedEpic => ({ epic, placed })))
  const children = childrenOf(all)
  const tops = new Set(all)
  for (const each of children.values()) for (const child of each) tops.delete(child)
  const added = new Set<PlacedEpic>()
  const addBelow = async (top: PlacedEpic): Promise<void> => {
    const waiting: { of: PlacedEpic; parent?: number | undefined; position?: number }[] = [{ of: top }]
    // The list grows while it is read.
    for (const { of, parent, position } of waiting) {
      if (added.has(of)) continue
      added.add(of)
      const line = await addEpic(tree, of, { parent, relative_position: parent === undefined ? undefined : position })
      for (const [index, child] of (children.get(of) ?? []).entries())
        waiting.push({ of: child, parent: line, position: index + 1 })
    }
  }
  for (const top of tops) await addBelow(top)
  for (const one of all)
    if (!added.has(one)) {
      tree.to.leaveOut('epic_parents')
      await addBelow(one)
    }
}

/** The children of each epic, in their order. A parent is named by its id, or nested with its number and title. */
function childrenOf(all: readonly PlacedEpic[]): Map<PlacedEpic, PlacedEpic[]> {
  const byId = new Map(all.map((each) => [each.epic['id'], each]))
  const byName = new Map(all.map((each) => [nameOf(each.placed, each.epic), each]))
  const children = new Map<PlacedEpic, PlacedEpic[]>()
  for (const each of all) {
    const id = each.epic['parent_id'] ?? undefined
    const parent = (id === undefined ? undefined : byId.get(id)) ?? nestedParent(each, byName)
    if (parent === undefined) continue
    const siblings = children.get(parent) ?? []
    children.set(parent, siblings)
    siblings.push(each)
  }
  for (const siblings of children.values()) siblings.sort((a, b) => placeOf(a) - placeOf(b))
  return children
}

function nestedParent({ epic, placed }: PlacedEpic, byName: ReadonlyMap<string, PlacedEpic>): PlacedEpic | undefined {
  const nested = oneIn(epic, 'parent')
  if (!nested) return undefined
  for (const around of upwards(placed)) {
    const found = byName.get(nameOf(around, nested))
    if (found) return found
  }
  return undefined
}

const nameOf = ({ line }: PlacedGroup, { iid, title }: Nested): string =>
  JSON.stringify([line, scalar(iid), scalar(title)])

const placeOf = ({ epic }: PlacedEpic): number =>
  Number.isFinite(epic['relative_position']) ? Number(epic['relative_position']) : Number.MAX_SAFE_INTEGER

/** A date is that which was fixed. */
const datesOf = (epic: Nested, which: 'start' | 'due'): Nested => ({
  [`${which}_date_is_fixed`]: epic[`${which}_date_is_fixed`] === true,
  [`${which}_date_fixed`]: epic[`${which}_date_fixed`],
})

/** Names of the states that older exports have by number. */
const states: Readonly<Record<number, string>> = { 1: 'opened', 2: 'closed' }

/** Older exports have `state_id` instead of `state`: a number, or its name. */
function stateOf({ state, state_id: id }: Nested): unknown {
  if (state !== undefined) return state
  return typeof id === 'number' ? states[id] : id
}

async function addEpic(tree: GroupTree, { epic, placed }: PlacedEpic, place: Nested): Promise<number | undefined> {
  const { to } = tree
  const line = await to.add('epics', {
    group: placed.line,
    ...pick(epic, 'iid', 'title', 'description', 'confidential'),
    state: stateOf(epic),
    ...place,
    author: to.authorOf(epic['author_id']),
    ...datesOf(epic, 'start'),
    ...datesOf(epic, 'due'),
    closed_at: timeOf(epic['closed_at']),
    closed_by: to.userOf(epic['closed_by_id']),
    ...timesOf(epic),
  })
  if (line === undefined) return undefined
  await convertSurroundings(to, { kind: 'epic', line, labelOf: (label) => labelIn(tree, placed, label) }, epic)
  return line
}
