import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { Scope } from '../../../access/scopes.ts'
import { type Endpoint, endpoint, listed, type Subject } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { user } from '../../accounts/index.ts'
import { project } from '../../projects/index.ts'
import { group } from '../groups/subject.ts'
import type { Holder } from '../holders/holder.ts'
import { CustomAttribute } from './entity.ts'
import { customAttributesOf, findCustomAttribute } from './queries.ts'
import { removeCustomAttribute, setCustomAttribute } from './service.ts'

const key = Text({ description: 'Key of the attribute' })

/** Shared by everything that has custom attributes. */
const attributeRoutes = <T extends { readonly id: number; readonly facts: Facts }, A extends string>(
  base: '/users' | '/groups' | '/projects',
  of: 'user' | 'group' | 'project',
  subject: Subject<T, A | 'admin_custom_attribute', TObject>,
): readonly Endpoint[] => {
  const holderOf = ({ id }: T): Holder => ({ of, id })
  const scopes: readonly Scope[] = of === 'user' ? ['read_user'] : []
  return [
    endpoint({
      method: 'GET',
      path: `${base}/:id/custom_attributes`,
      summary: `List custom attributes of a ${of}`,
      scopes,
      subject,
      allow: 'admin_custom_attribute',
      returns: listed(CustomAttribute),
      handle: ({ subject: held, ctx }) => customAttributesOf(ctx.db, holderOf(held)),
    }),

    endpoint({
      method: 'GET',
      path: `${base}/:id/custom_attributes/:key`,
      summary: `Get a ${of} custom attribute`,
      scopes,
      subject,
      allow: 'admin_custom_attribute',
      params: Params({ key }),
      returns: CustomAttribute,
      async handle({ subject: held, params, ctx }) {
        const row = await findCustomAttribute(ctx.db, holderOf(held), params.key)
        if (!row) throw rowNotFound()
        return row
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${base}/:id/custom_attributes/:key`,
      summary: `Set a ${of} custom attribute`,
      subject,
      allow: 'admin_custom_attribute',
      params: Params({ key, value: Text({ description: 'Value of the attribute' }) }),
      returns: CustomAttribute,
      handle: ({ subject: held, params, ctx }) =>
        setCustomAttribute(ctx, holderOf(held), { key: params.key, value: params.value }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${base}/:id/custom_attributes/:key`,
      summary: `Delete a ${of} custom attribute`,
      subject,
      allow: 'admin_custom_attribute',
      params: Params({ key }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => removeCustomAttribute(ctx, holderOf(held), params.key),
    }),
  ]
}

export const customAttributeRoutes = [
  ...attributeRoutes('/users', 'user', user),
  ...attributeRoutes('/groups', 'group', group),
  ...attributeRoutes('/projects', 'project', project),
]
