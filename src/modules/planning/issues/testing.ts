import type { Client, World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'

export type OpenedIssue = {
  readonly project: { readonly id: number; readonly full_path: string }
  readonly id: number
  readonly iid: number
  /** Its path in the API. */
  readonly at: string
  /** The response to its creation. */
  readonly record: any
}

/** Creates an issue, in a new project unless one is given. Other attributes are passed to the call. */
export async function openIssue(
  world: World,
  {
    project: given,
    visibility = 'public',
    members = [],
    author = world.root,
    ...attributes
  }: {
    project?: Pick<StoredProject, 'id' | 'full_path'>
    visibility?: Visibility
    members?: readonly [Client, Level][]
    author?: Client
    [attribute: string]: unknown
  } = {},
): Promise<OpenedIssue> {
  const project = given ?? (await storedProject(world, { visibility, members }))
  const made = await author.post(`/projects/${project.id}/issues`, { title: 'Something is wrong', ...attributes })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  const { id, iid } = made.json
  return { project, id, iid, at: `/projects/${project.id}/issues/${iid}`, record: made.json }
}
