import { Type } from 'typebox'
import { kindOf, type NoteableType } from './kinds.ts'

/** The project or group from which a reference is read: the reference is as short as that allows. */
export type Within =
  | { readonly of: 'all' }
  | { readonly of: 'project'; readonly id: number; readonly full_path: string }
  | { readonly of: 'group'; readonly id?: number; readonly full_path: string }

/** A noteable with the path of its holder, and with the id of that if it is a project. */
type Named = { readonly iid: number; readonly full_path: string; readonly project_id?: number }

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** How text refers to a noteable. */
export function references(type: NoteableType, { iid, project_id: id, full_path }: Named, within: Within) {
  const short = `${kindOf(type).sign}${iid}`
  const relative = `${pathWithin({ of: kindOf(type).holder.of, id, full_path }, within)}${short}`
  return { short, relative, full: `${full_path}${short}` }
}

/** The page of a noteable of a holder with this path. */
export function noteableUrl(siteUrl: string, type: NoteableType, fullPath: string, iid: number | string): string {
  const { holder, segment } = kindOf(type)
  return `${siteUrl}/${holder.of === 'group' ? 'groups/' : ''}${fullPath}/-/${segment}/${iid}`
}

/** The group that a text in a project or group means if it names none: that of the project. */
export const groupOfText = ({ of, full_path }: { readonly of: 'project' | 'group'; readonly full_path: string }) =>
  of === 'group' ? full_path : parentOf(full_path).slice(0, -1)

/** What a text names before the sign of a reference: a project, or a group. */
type Home = { readonly of: 'project' | 'group'; readonly id?: number | undefined; readonly full_path: string }

/** How text names it; empty for the project of the text and for the group of the text. Other groups have their full path. */
export function pathWithin({ of, id, full_path }: Home, within: Within): string {
  if (of === 'group') return within.of !== 'all' && groupOfText(within) === full_path ? '' : full_path
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
    short: Type.String({ description: 'Reference within the project or group, such as `!1`, `#1` or `&1`' }),
    relative: Type.String({ description: 'Shortest unambiguous reference in the context of the request' }),
    full: Type.String({ description: 'Reference with the full path of the project or group' }),
  },
  { title: 'References' },
)
