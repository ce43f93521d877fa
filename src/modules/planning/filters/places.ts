import type { Within } from '../../discussion/index.ts'
import type { NoteablePlace } from './filters.ts'

type Project = { readonly id: number; readonly full_path: string }
type Group = { readonly traversal_ids: readonly number[]; readonly full_path: string }

export const placeOfProject = ({ id, full_path }: Project): NoteablePlace => ({ of: 'project', id, full_path })

/** With archived projects, unless `archived` is false. */
export const placeOfGroup = (
  { traversal_ids, full_path }: Group,
  { archived = true }: { readonly archived?: boolean } = {},
): NoteablePlace => ({ of: 'group', traversalIds: traversal_ids, full_path, archived })

/** Where the records of a list are shown: their references are relative to it. */
export function withinOf(place: NoteablePlace): Within {
  switch (place.of) {
    case 'everyone':
      return { of: 'all' }
    case 'project':
      return { of: 'project', id: place.id, full_path: place.full_path }
    case 'group':
      return { of: 'group', full_path: place.full_path }
  }
}
