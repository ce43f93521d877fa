import {
  choice,
  decimal,
  flag,
  moment,
  oid,
  orElse,
  orNull,
  ownNumber,
  partOf,
  person,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'
import { sql } from '../../../db/sql.ts'
import { reachNumber } from '../../projects/index.ts'
import { deploymentStatuses } from '../environments/deployment-queries.ts'
import { tiers } from '../environments/names.ts'
import { states } from '../environments/queries.ts'
import { statuses } from '../pipelines/status.ts'

/** As the API accepts it. */
const percent: typeof decimal = {
  ...decimal,
  accepts: (given) => decimal.accepts(given) && (given as number) >= 0 && (given as number) <= 100,
}

const user = { user: { ...person, column: 'user_id' } }
const ref = words(10_000)

/** Pipelines of a project. */
export const pipelineRelation: Relation = {
  name: 'ci_pipelines',
  ...heldBy('pipelines'),
  order: ['t.iid'],
  columns: {
    iid: ownNumber,
    sha: oid,
    ref,
    tag: flag,
    source: words(10_000),
    status: choice(...statuses),
    ...user,
    created_at: moment,
    updated_at: moment,
    started_at: orNull(moment),
    finished_at: orNull(moment),
    duration: orNull(whole()),
  },
  hasId: true,
  holder: ['project_id'],
}

/** Columns of the statuses that external systems report for commits. */
export const statusColumns: Relation['columns'] = {
  pipeline: { ...partOf('ci_pipelines'), column: 'pipeline_id' },
  name: words(10_000),
  ref,
  stage: words(10_000),
  stage_index: orElse(whole(-(2 ** 31) + 1), 1_000_000),
  status: choice(...statuses),
  failure_reason: orNull(words(10_000)),
  allow_failure: orElse(flag, false),
  retried: orElse(flag, false),
  target_url: orNull(words(10_000)),
  description: orNull(words(10_000)),
  // An older release imported any number.
  coverage: { ...orNull(percent), reads: 'case when t.coverage between 0 and 100 then t.coverage end' },
  ...user,
  created_at: moment,
  queued_at: orNull(moment),
  started_at: orNull(moment),
  finished_at: orNull(moment),
}

/** Environments of a project, and what was deployed to them. */
export const environmentRelations: readonly Relation[] = [
  {
    name: 'environments',
    ...heldBy('environments'),
    order: ['t.id'],
    columns: {
      name: words(10_000),
      slug: words(63, /^[a-z0-9-]+$/),
      description: orNull(words(10_000)),
      external_url: orNull(words(10_000, /^https?:\/\//i)),
      tier: choice(...tiers),
      state: choice(...states),
      created_at: moment,
      updated_at: moment,
    },
    hasId: true,
    holder: ['project_id'],
  },
  {
    name: 'deployments',
    ...heldBy('deployments'),
    order: ['t.iid'],
    columns: {
      environment: { ...partOf('environments'), column: 'environment_id' },
      iid: ownNumber,
      sha: oid,
      ref,
      tag: flag,
      status: choice(...deploymentStatuses),
      ...user,
      created_at: moment,
      updated_at: moment,
    },
    holder: ['project_id'],
    after: ({ id }) => [
      reachNumber(
        'deployments',
        sql`(select coalesce(max(iid), 0) from deployments where project_id = ${id})`,
        sql`select ${id}::bigint as project_id`,
      ),
    ],
  },
]
