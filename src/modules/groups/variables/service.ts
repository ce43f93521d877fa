import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { conflict, invalidFields, notFound } from '../../../kernel/failure.ts'
import { blank, lengthViolations, taken, violationsOf } from '../../../kernel/violations.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import {
  deleteVariable,
  findVariables,
  insertVariable,
  lockVariables,
  updateVariable,
  type VariableAttributes,
  type VariableRow,
  variablesOf,
} from './queries.ts'
import { openValue, sealValue } from './sealing.ts'

export { variablesOf }

/** A variable by its key; if there are several, `scope` selects one. */
export type Named = { readonly key: string; readonly scope: string | undefined }

type Absentable<T> = { [K in keyof T]?: T[K] | undefined }
export type VariableInput = Absentable<VariableAttributes & { value: string }>

const maxLengths = { key: 255, value: 65_536, environment_scope: 255, description: 255 }

/** Values that can be found and masked in a job log: one line of at least eight characters that logs do not escape. */
const maskable = /^[A-Za-z0-9_+=/@:.~-]{8,}$/
const scopeShape = /^[A-Za-z0-9_\-/${}. *]+$/
const scopeText = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"

const shownAgain = 'The visibility setting cannot be changed for masked and hidden variables.'

function check(
  key: string,
  { value, masked, environment_scope, description }: VariableAttributes & { value: string },
): void {
  const violations = violationsOf({
    key:
      key === ''
        ? [blank]
        : [
            ...lengthViolations(key, maxLengths.key),
            ...(/^[A-Za-z0-9_]+$/.test(key) ? [] : ["can contain only letters, digits and '_'."]),
          ],
    value: [...lengthViolations(value, maxLengths.value), ...(masked && !maskable.test(value) ? ['is invalid'] : [])],
    environment_scope:
      environment_scope.trim() === ''
        ? [blank]
        : [
            ...lengthViolations(environment_scope, maxLengths.environment_scope),
            ...(scopeShape.test(environment_scope) ? [] : [scopeText]),
          ],
    description: lengthViolations(description ?? '', maxLengths.description),
  })
  if (violations) throw invalidFields(violations)
}

const ambiguous = () =>
  conflict("There are multiple variables with provided parameters. Please use 'filter[environment_scope]'")

function singleVariable(found: readonly VariableRow[]): VariableRow {
  if (found.length > 1) throw ambiguous()
  if (!found[0]) throw notFound('Variable')
  return found[0]
}

export const getVariable = async (db: Db, holder: Holder, { key, scope }: Named): Promise<VariableRow> =>
  singleVariable(await findVariables(db, holder, key, scope))

/** Throws if the caller has lost the permission during the wait for the lock. */
async function lockVariable(tx: Tx, holder: Holder, { key, scope }: Named): Promise<VariableRow> {
  const held = await lockVariables(tx, holder, key, scope)
  await tx.requirePermission?.()
  return singleVariable(held)
}

const defaults = ({ settings }: Ctx): VariableAttributes => ({
  variable_type: 'env_var',
  protected: settings.protected_ci_variables,
  masked: false,
  raw: false,
  environment_scope: '*',
  description: null,
})

const given = (input: VariableInput) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<
    VariableAttributes & { value: string }
  >

const asTaken =
  (key: string) =>
  (error: unknown): never => {
    if (violatedUnique(error)?.startsWith('variables_')) throw invalidFields({ key: [`(${key}) ${taken}`] })
    throw error
  }

export async function createVariable(
  ctx: Ctx,
  holder: Holder,
  key: string,
  { masked_and_hidden: hidden = false, ...input }: VariableInput & { value: string; masked_and_hidden?: boolean },
): Promise<VariableRow> {
  const wanted = { ...defaults(ctx), ...given(input), value: input.value, ...(hidden && { masked: true }) }
  check(key, wanted)
  const named = {
    key,
    project_id: holder.of === 'project' ? holder.id : null,
    namespace_id: holder.of === 'group' ? holder.id : null,
  }
  return ctx
    .transaction(async (tx) => {
      const sealedValue = sealValue(ctx.secrets, named, wanted.value)
      const made = await insertVariable(tx, holder, { ...wanted, key, sealedValue, hidden })
      // The insert waits for changes of the holder.
      await tx.requirePermission?.()
      await record(ctx, tx, 'variable_created', holder, made)
      return made
    })
    .catch(asTaken(key))
}

/** Absent attributes stay. A hidden variable stays masked and hidden. Values as they are leave no trace. */
export async function editVariable(ctx: Ctx, holder: Holder, named: Named, input: VariableInput): Promise<VariableRow> {
  return ctx
    .transaction(async (tx) => {
      const held = await lockVariable(tx, holder, named)
      if (held.hidden && input.masked === false) throw invalidFields({ masked: [shownAgain] })
      const before = { ...held, value: openValue(ctx.secrets, held) }
      const wanted = { ...before, ...given(input) }
      check(named.key, wanted)
      if (changedNames(before, wanted).length === 0) return held
      const changed = (await updateVariable(tx, held.id, {
        ...wanted,
        sealedValue: sealValue(ctx.secrets, held, wanted.value),
      }))!
      await record(ctx, tx, 'variable_updated', holder, changed)
      return changed
    })
    .catch(asTaken(named.key))
}

export async function removeVariable(ctx: Ctx, holder: Holder, named: Named): Promise<void> {
  await ctx.transaction(async (tx) => {
    const held = await lockVariable(tx, holder, named)
    await deleteVariable(tx, held.id)
    await record(ctx, tx, 'variable_deleted', holder, held)
  })
}

/** Emits an event with all attributes but the value. */
const record = (
  ctx: Ctx,
  tx: Tx,
  kind: 'variable_created' | 'variable_updated' | 'variable_deleted',
  holder: Holder,
  row: VariableRow,
) =>
  emit(tx, {
    kind,
    ...placeOf(holder),
    actorId: ctx.actor!.id,
    payload: { variable_id: row.id },
    facts: {
      key: row.key,
      variable_type: row.variable_type,
      protected: row.protected,
      masked: row.masked,
      environment_scope: row.environment_scope,
    },
  })
