import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described } from '../../../api/schema.ts'
import {
  deploymentFields,
  deploymentRecord,
  EnvironmentReferenceSchema,
  environmentReference,
} from '../environments/entity.ts'
import type { PlacedRow } from './queries.ts'

export const Deployment = entity({
  name: 'Deployment',
  schema: Type.Object({
    ...deploymentFields,
    environment: described(EnvironmentReferenceSchema, 'Where it was deployed'),
  }),
  present: (row: PlacedRow, ctx) => ({
    ...deploymentRecord(row, ctx),
    environment: environmentReference(row.environment),
  }),
})
