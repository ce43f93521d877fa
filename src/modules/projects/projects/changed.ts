import type { Tx } from '../../../db/db.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { cleanupDefaults } from './cleanup-policy.ts'
import { attributesOf, type ProjectChanges } from './edit-queries.ts'
import { olderForms } from './features.ts'
import type { ProjectRow } from './queries.ts'
import { inheritedWhileAbsent, settingDefaults } from './settings.ts'

/** Parameters that have another name than what they change. */
const aliases: Readonly<Record<string, string>> = {
  ...olderForms,
  tag_list: 'topics',
  public_jobs: 'public_builds',
  container_expiration_policy_attributes: 'container_expiration_policy',
}

/** What an edit changes of a project, which is locked. Clients that manage configurations send every attribute, changed or not. */
export async function changedOf(
  tx: Tx,
  held: ProjectRow,
  { settings, ...columns }: ProjectChanges,
): Promise<{ readonly isChanged: boolean; readonly among: (params: object) => string[] }> {
  const { settings: stored, ...attributes } = await attributesOf(tx, held.id)
  const policy = { ...cleanupDefaults, ...stored.container_expiration_policy }
  const changed = new Set(
    changedNames(
      {
        ...settingDefaults,
        ...inheritedWhileAbsent,
        ...stored,
        ...held,
        ...attributes,
        container_expiration_policy: policy,
      },
      {
        ...settings,
        ...columns,
        ...(settings?.container_expiration_policy && {
          container_expiration_policy: { ...policy, ...settings.container_expiration_policy },
        }),
      },
    ),
  )
  return {
    isChanged: changed.size > 0,
    among: (params) => Object.keys(params).filter((name) => changed.has(aliases[name] ?? name)),
  }
}
