import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { Lint } from './lint.ts'

export const PipelineLint = entity({
  name: 'PipelineLint',
  schema: Type.Object({
    valid: Type.Boolean({ description: 'True if there are no errors' }),
    status: Type.String({ enum: ['valid', 'invalid'], description: '`valid` in words, for older clients' }),
    errors: Type.Array(Type.String(), { description: 'What is wrong, at most 100 texts' }),
    warnings: Type.Array(Type.String(), { description: 'Includes that were not read' }),
    merged_yaml: nullable(Type.String(), {
      description: 'Configuration with includes and `extends` merged; null if it cannot be parsed',
    }),
    includes: Type.Array(
      Type.Object({
        type: Type.String({ description: 'Kind of include, always `local`' }),
        location: Type.String({ description: 'Path in the repository' }),
      }),
      { description: 'Files that were included' },
    ),
  }),
  present: ({ errors, warnings, mergedYaml, includes }: Lint) => ({
    valid: errors.length === 0,
    status: errors.length === 0 ? 'valid' : 'invalid',
    errors: [...errors],
    warnings: [...warnings],
    merged_yaml: mergedYaml,
    includes: includes.map((location) => ({ type: 'local', location })),
  }),
})
