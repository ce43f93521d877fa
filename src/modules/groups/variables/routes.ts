import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { type Endpoint, endpoint, type Subject } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { group } from '../groups/subject.ts'
import { type Holder, instanceHolder } from '../holders/holder.ts'
import { InstanceVariable, Variable } from './entity.ts'
import type { VariableRow } from './queries.ts'
import { variableRow } from './queries.ts'
import { createVariable, editVariable, getVariable, removeVariable, variablesOf } from './service.ts'

const key = Text({ description: 'Name of the variable' })
const value = Text({ description: 'Value; stored encrypted' })
const attributes = {
  variable_type: Optional(OneOf(['env_var', 'file'], { description: 'file: jobs get a file with the value' })),
  protected: Optional(Flag({ description: 'Only for protected branches and tags' })),
  masked: Optional(Flag({ description: 'Mask in job logs; requires one line of at least 8 characters' })),
  raw: Optional(Flag({ description: 'Do not expand variables' })),
  description: Optional(Nullable(Text({ description: 'Description of the variable' }))),
}
const scoped = {
  environment_scope: Optional(Text({ description: 'Environments; `*` matches any text' })),
}
const hiding = {
  masked_and_hidden: Optional(
    Flag({ description: 'Mask in job logs, and never show the value; cannot be changed afterwards' }),
  ),
}
const filter = {
  filter: Optional(
    Params(
      { environment_scope: Optional(Text({ description: 'Environment scope, if several variables have the key' })) },
      { description: 'Selects one of several variables with the key' },
    ),
  ),
}

/** Shared by projects, groups and the instance. Instance variables have no environment scope and cannot be hidden. */
const variableRoutesOf = <T extends { readonly facts: Facts }, A extends string>(
  base: '/projects/:id/variables' | '/groups/:id/variables' | '/admin/ci/variables',
  what: string,
  subject: Subject<T, A | 'admin_variable', TObject>,
  holderOf: (subject: T) => Holder,
  { hasScopes = true } = {},
): readonly Endpoint[] => {
  const returns: Entity<VariableRow> = hasScopes ? Variable : InstanceVariable
  // Handlers see declared parameters only: without scopes, these are absent.
  const scope = (hasScopes ? scoped : {}) as typeof scoped
  const which = (hasScopes ? filter : {}) as typeof filter
  const hidable = (hasScopes ? hiding : {}) as typeof hiding
  const named = (params: { key: string; filter?: { environment_scope?: string } }) => ({
    key: params.key,
    scope: params.filter?.environment_scope,
  })
  return [
    endpoint({
      method: 'GET',
      path: base,
      summary: `List ${what} variables`,
      subject,
      allow: 'admin_variable',
      paged: true,
      returns,
      handle: ({ subject: held, page, ctx }) => fetchPage(ctx.db, variableRow, variablesOf(holderOf(held)), page),
    }),

    endpoint({
      method: 'GET',
      path: `${base}/:key`,
      summary: `Get ${what} variable`,
      subject,
      allow: 'admin_variable',
      params: Params({ key, ...which }),
      returns,
      handle: ({ subject: held, params, ctx }) => getVariable(ctx.db, holderOf(held), named(params)),
    }),

    endpoint({
      method: 'POST',
      path: base,
      summary: `Create ${what} variable`,
      subject,
      allow: 'admin_variable',
      params: Params({ key, value, ...attributes, ...scope, ...hidable }),
      returns,
      handle: ({ subject: held, params: { key: name, ...input }, ctx }) =>
        createVariable(ctx, holderOf(held), name, input),
    }),

    endpoint({
      method: 'PUT',
      path: `${base}/:key`,
      summary: `Update ${what} variable`,
      subject,
      allow: 'admin_variable',
      params: Params({ key, value: Optional(value), ...attributes, ...scope, ...which }),
      returns,
      handle: ({ subject: held, params, ctx }) => {
        const { key: _, filter: __, ...input } = params
        return editVariable(ctx, holderOf(held), named(params), input)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${base}/:key`,
      summary: `Delete ${what} variable`,
      subject,
      allow: 'admin_variable',
      params: Params({ key, ...which }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeVariable(ctx, holderOf(held), named(params)),
    }),
  ]
}

export const variableRoutes = [
  ...variableRoutesOf('/projects/:id/variables', 'project', project, ({ id }) => ({ of: 'project', id })),
  ...variableRoutesOf('/groups/:id/variables', 'group', group, ({ id }) => ({ of: 'group', id })),
  ...variableRoutesOf('/admin/ci/variables', 'instance', instance, () => instanceHolder, { hasScopes: false }),
]
