import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { statuses } from '../../ci/index.ts'
import type { StatusRow } from './queries.ts'

/** The status that an external system reported for a commit. */
export const CommitStatus = entity({
  name: 'CommitStatus',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the status' }),
    sha: Type.String({ description: 'Full hash of the commit' }),
    ref: Type.String({ description: 'Branch or tag' }),
    status: Type.String({ enum: [...statuses], description: 'State that was reported' }),
    name: Type.String({ description: 'Name of the status, unique per commit and ref' }),
    target_url: nullable(Type.String({ description: 'URL with details' })),
    description: nullable(Type.String(), { description: 'Short text about the result; null if there is none' }),
    created_at: timestamp('Time of the first report'),
    started_at: nullable(timestamp(), { description: 'Time at which `running` was reported; null before' }),
    finished_at: nullable(timestamp(), { description: 'Time at which the result was reported; null before' }),
    allow_failure: Type.Boolean({ description: 'A failure counts as a warning' }),
    coverage: nullable(Type.Number({ description: 'Coverage in percent' })),
    pipeline_id: Type.Integer({ description: 'ID of the pipeline that the status belongs to' }),
    author: nullable(UserReferenceSchema, { description: 'Null if the user was deleted' }),
  }),
  present: (row: StatusRow, ctx) => ({
    id: row.id,
    sha: row.pipeline.sha as string,
    ref: row.ref,
    status: row.status as string,
    name: row.name,
    target_url: row.target_url,
    description: row.description,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    allow_failure: row.allow_failure,
    coverage: row.coverage,
    pipeline_id: row.pipeline.id,
    author: row.author && userReference(row.author, ctx),
  }),
})
