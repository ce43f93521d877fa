/** The project from which a reference is read: the reference is as short as that allows. */
export type Within =
  | { readonly of: 'all' }
  | { readonly of: 'project'; readonly id: number; readonly full_path: string }
  | { readonly of: 'group'; readonly full_path: string }

type Named = { readonly iid: number; readonly project_id: number; readonly full_path: string }

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)

/** How text refers to a merge request. */
export function references({ iid, project_id, full_path }: Named, within: Within) {
  const short = `!${iid}`
  const full = `${full_path}${short}`
  return { short, relative: relative(), full }

  function relative(): string {
    if (within.of === 'all') return full
    if (within.of === 'project') {
      if (within.id === project_id) return short
      const parent = parentOf(full_path)
      return parentOf(within.full_path) === parent ? full.slice(parent.length) : full
    }
    return full.startsWith(`${within.full_path}/`) ? full.slice(within.full_path.length + 1) : full
  }
}
