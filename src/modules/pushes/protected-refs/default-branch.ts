import type { Tx } from '../../../db/db.ts'
import { nameGlob } from '../../../kernel/glob.ts'
import { accessLevels } from './levels.ts'
import { findProtectedRefs, insertGrants, insertProtectedRef } from './queries.ts'

/** Values of the setting `default_branch_protection`. */
export const defaultProtections = { none: 0, developersPush: 1, full: 2, developersMerge: 3 } as const

/** Whether only maintainers may push to an empty repository. */
export const awaitsMaintainer = (setting: number): boolean => setting >= defaultProtections.full

/** Protects the first branch of a repository as the setting requires, unless a rule covers it. */
export async function protectFirstBranch(tx: Tx, projectId: number, name: string, setting: number): Promise<void> {
  if (setting === defaultProtections.none) return
  const rules = await findProtectedRefs(tx, projectId, null)
  if (rules.some((rule) => rule.kind === 'branch' && nameGlob(rule.name)(name))) return
  const id = await insertProtectedRef(tx, { projectId, kind: 'branch', name })
  if (id === undefined) return
  const give = (action: 'push' | 'merge', developers: boolean) =>
    insertGrants(tx, id, action, [
      { access_level: developers ? accessLevels.developers : accessLevels.maintainers, user_id: null, group_id: null },
    ])
  await give('push', setting === defaultProtections.developersPush)
  await give('merge', setting === defaultProtections.developersMerge)
}
