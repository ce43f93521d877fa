import type { Client, TestGroup, World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'

export type OpenedEpic = {
  readonly group: TestGroup
  readonly id: number
  readonly iid: number
  /** Its path in the API. */
  readonly at: string
  /** The response to its creation. */
  readonly record: any
}

/** Creates an epic, in a new group unless one is given. Other attributes are passed to the call. */
export async function openEpic(
  world: World,
  {
    group: given,
    visibility = 'public',
    members = [],
    author = world.root,
    ...attributes
  }: {
    group?: OpenedEpic['group']
    visibility?: Visibility
    members?: readonly [Client, Level][]
    author?: Client
    [attribute: string]: unknown
  } = {},
): Promise<OpenedEpic> {
  const group = given ?? (await world.group({ visibility, members }))
  const made = await author.post(`/groups/${group.id}/epics`, { title: 'Better reports', ...attributes })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  const { id, iid } = made.json
  return { group, id, iid, at: `/groups/${group.id}/epics/${iid}`, record: made.json }
}
