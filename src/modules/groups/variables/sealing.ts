import type { Secrets } from '../../../kernel/secrets.ts'
import type { VariableRow } from './queries.ts'

type Named = Pick<VariableRow, 'key' | 'project_id' | 'namespace_id'>

/** Binds the encrypted value to its holder and key. */
export const purposeOf = ({ key, project_id, namespace_id }: Named): string =>
  `variable ${project_id ?? '-'} ${namespace_id ?? '-'} ${key}`

export const sealValue = (secrets: Secrets, variable: Named, value: string): string =>
  secrets.seal(value, purposeOf(variable))

export const openValue = (secrets: Secrets, variable: Named & Pick<VariableRow, 'sealed_value'>): string =>
  secrets.open(variable.sealed_value, purposeOf(variable))
