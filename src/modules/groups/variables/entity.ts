import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { VariableRow } from './queries.ts'
import { openValue } from './sealing.ts'

const fields = {
  variable_type: Type.String({
    enum: ['env_var', 'file'],
    description: 'file: the variable holds the path of a file with the value',
  }),
  key: Type.String({ description: 'Name of the variable' }),
  value: nullable(Type.String(), { description: 'Value of the variable; null if it is hidden' }),
  protected: Type.Boolean({ description: 'Only for protected branches and tags' }),
  masked: Type.Boolean({ description: 'Masked in job logs' }),
  raw: Type.Boolean({ description: 'Do not expand variables' }),
  description: nullable(Type.String(), { description: 'Description; null if there is none' }),
}

const present = (row: VariableRow, { secrets }: Ctx) => ({
  variable_type: row.variable_type,
  key: row.key,
  value: row.hidden ? null : openValue(secrets, row),
  protected: row.protected,
  masked: row.masked,
  raw: row.raw,
  description: row.description,
})

export const Variable = entity({
  name: 'Variable',
  schema: Type.Object({
    ...fields,
    hidden: Type.Boolean({ description: 'No response shows the value' }),
    environment_scope: Type.String({ description: 'Environments; `*` for all' }),
  }),
  present: (row: VariableRow, ctx) => ({
    ...present(row, ctx),
    hidden: row.hidden,
    environment_scope: row.environment_scope,
  }),
})

/** A variable of the whole instance, for all environments. */
export const InstanceVariable = entity({ name: 'InstanceVariable', schema: Type.Object(fields), present })
