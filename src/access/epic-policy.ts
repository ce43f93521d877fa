import { groupPolicy } from './group-policy.ts'
import type { Policy } from './policy.ts'

/**
 * Abilities on an epic, by the facts of its group. Facts: modules/planning/epics/subject.ts. Flags: `hidden`, the epic is confidential and
 * the caller is neither its author nor a reporter. For a note: `own_note`, the caller wrote it; `system_note`, it has no author.
 */
export const epicPolicy = {
  read_group: groupPolicy.read_group,
  read_epic: { ...groupPolicy.list_epics, unless: ['hidden'] },
  /** Change its attributes, its labels, its place among other epics, and its issues. */
  update_epic: { from: 'reporter', unless: ['hidden'] },
  remove_epic: { from: 'owner', unless: ['hidden'] },
  comment: { from: 'guest', open: 'signed_in', unless: ['hidden'] },
  award: { from: 'guest', open: 'signed_in', unless: ['hidden', 'system_note'] },
  /** Edit or delete a note. */
  admin_note: { from: 'maintainer', or: ['own_note'], unless: ['hidden', 'system_note'] },
  /** Set the creation time of a note, and the times of an epic. */
  date_note: { from: 'owner', unless: ['hidden'] },
} as const satisfies Policy<string>
