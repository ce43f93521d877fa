import type { Converter } from './converter.ts'
import { colorOf, type Nested, pick, scalar, timesOf } from './values.ts'

/** A group of an archive, its line, and the group in which it is nested. */
export type PlacedGroup = {
  readonly group: Nested
  readonly line: number
  /** Groups from the first one to it. */
  readonly depth: number
  readonly parent: PlacedGroup | undefined
}

/** What records of groups refer to: lines by the line of the group and the title. */
export type GroupTree = {
  readonly to: Converter
  readonly labels: Map<string, number>
  readonly milestones: Map<string, number>
}

/** Names what records of a group refer to by its title. */
export const keyOf = ({ line }: PlacedGroup, title: unknown): string => JSON.stringify([line, scalar(title)])

/** A group and those in which it is nested, from below. */
export function* upwards(from: PlacedGroup): Generator<PlacedGroup> {
  for (let at: PlacedGroup | undefined = from; at; at = at.parent) yield at
}

/** The line of a label that a record of a group nests: that of the group or of one around it, or else a new one of the group. */
export async function labelIn(tree: GroupTree, placed: PlacedGroup, label: Nested): Promise<number | undefined> {
  const title = label['title']
  for (const around of upwards(placed)) {
    const known = tree.labels.get(keyOf(around, title))
    if (known !== undefined) return known
  }
  const line = await tree.to.add('labels', {
    group: placed.line,
    ...pick(label, 'title', 'description'),
    color: colorOf(label['color']),
    ...timesOf(label),
  })
  if (line !== undefined) tree.labels.set(keyOf(placed, title), line)
  return line
}

/** The line of the milestone with the title of a nested one, of the group or of one around it. */
export function milestoneIn(tree: GroupTree, placed: PlacedGroup, milestone: Nested | undefined): number | undefined {
  if (!milestone) return undefined
  for (const around of upwards(placed)) {
    const known = tree.milestones.get(keyOf(around, milestone['title']))
    if (known !== undefined) return known
  }
  return undefined
}
