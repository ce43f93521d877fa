import { invalid } from '../../../kernel/failure.ts'
import { grantOf } from '../protected-refs/params.ts'
import type { ProtectedRefRow, RefAction } from '../protected-refs/queries.ts'
import type { GrantChanges } from '../protected-refs/service.ts'

type Entry = { id?: number; user_id?: number; group_id?: number; access_level?: number; _destroy: boolean }

/** Changes that the entries of `allowed_to_push` and similar parameters request; empty without entries. */
export function grantChanges(
  rule: ProtectedRefRow,
  action: RefAction,
  entries: readonly Entry[] | undefined,
): Partial<Record<RefAction, GrantChanges>> {
  if (entries === undefined || entries.length === 0) return {}
  const known = new Set(rule.access.filter((each) => each.action === action).map(({ id }) => id))
  const remove: number[] = []
  const add = entries.flatMap((entry) => {
    const { id, _destroy: destroy, ...holder } = entry
    if (id !== undefined) {
      if (!known.has(id)) throw invalid(`allowed_to_${action}: there is no entry ${id}`)
      remove.push(id)
    }
    if (destroy) return []
    const named = Object.keys(holder).length > 0
    if (!named) throw invalid(`allowed_to_${action}: an entry needs access_level, user_id or group_id`)
    return [grantOf(holder)]
  })
  return { [action]: { add, remove } }
}
