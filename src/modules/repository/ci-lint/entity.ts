import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { Lint } from './result.ts'

const texts = (description: string) => Type.Array(Type.String(), { description })

const Job = Type.Object(
  {
    name: Type.String({ description: 'Key of the job in the configuration' }),
    stage: Type.String({ description: 'Name of its stage' }),
    before_script: texts('Commands before the script'),
    script: texts('Commands that the job runs'),
    after_script: texts('Commands after the script'),
    tag_list: texts('Tags of the runners that may take it'),
    environment: nullable(Type.String(), { description: 'Name of its environment' }),
    when: Type.String({ description: 'When it runs, such as `on_success`' }),
    allow_failure: Type.Boolean({ description: 'True if the pipeline succeeds without it' }),
    needs: texts('Names of the jobs for which it waits'),
  },
  { title: 'LintedJob' },
)

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
    jobs: Type.Optional(Type.Array(Job, { description: 'Jobs of a valid configuration, if asked for' })),
  }),
  present: ({ errors, warnings, mergedYaml, includes, jobs }: Lint) => ({
    valid: errors.length === 0,
    status: errors.length === 0 ? 'valid' : 'invalid',
    errors: [...errors],
    warnings: [...warnings],
    merged_yaml: mergedYaml,
    includes: includes.map((location) => ({ type: 'local', location })),
    ...(jobs && { jobs: jobs.map((job) => ({ ...job })) }),
  }),
})
