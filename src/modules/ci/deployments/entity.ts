import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import {
  deploymentFields,
  deploymentRecord,
  EnvironmentReferenceSchema,
  environmentReference,
} from '../environments/entity.ts'
import type { PlacedRow } from './queries.ts'

export const Deployment = entity({
  name: 'Deployment',
  schema: Type.Object({ ...deploymentFields, environment: EnvironmentReferenceSchema }),
  present: (row: PlacedRow, ctx) => ({
    ...deploymentRecord(row, ctx),
    environment: environmentReference(row.environment),
  }),
})
