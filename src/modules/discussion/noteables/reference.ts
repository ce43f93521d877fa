import { Type } from 'typebox'
import { kindOf, type NoteableType } from './kinds.ts'

/** The project from which a reference is read: the reference is as short as that allows. */
export type Within =
  | { readonly of: 'all' }
  | { readonly of: 'project'; readonly id: number; readonly full_path: string }
  | { readonly of: 'group'; readonly full_path: string }

type Named = { readonly iid: number; readonly project_id: number; readonly full_path: string }

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** How text refers to a noteable. */
export function references(type: NoteableType, { iid, project_id, full_path }: Named, within: Within) {
  const short = `${kindOf(type).sign}${iid}`
  const full = `${full_path}${short}`
  return { short, relative: `${pathWithin({ id: project_id, full_path }, within)}${short}`, full }
}

/** How text names a project before the sign of a reference; empty for the project of the text. */
export function pathWithin(
  { id, full_path }: { readonly id: number; readonly full_path: string },
  within: Within,
): string {
  if (within.of === 'all') return full_path
  if (within.of === 'project') {
    if (within.id === id) return ''
    const parent = parentOf(full_path)
    return parentOf(within.full_path) === parent ? full_path.slice(parent.length) : full_path
  }
  return full_path.startsWith(`${within.full_path}/`) ? full_path.slice(within.full_path.length + 1) : full_path
}

/** The field `references` of records. */
export const ReferencesSchema = Type.Object(
  {
    short: Type.String({ description: 'Reference within the project, such as `!1` or `#1`' }),
    relative: Type.String({ description: 'Shortest unambiguous reference in the context of the request' }),
    full: Type.String({ description: 'Reference with the full path of the project' }),
  },
  { title: 'References' },
)
