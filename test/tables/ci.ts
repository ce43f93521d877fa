import type { World } from '../world.ts'
import { change, find } from './statements.ts'

/** Long ago, as the API writes it. */
const longAgo = '2020-01-02T00:00:00Z'

export const agePipeline = (world: World, id: number) => change(world, 'pipelines', { id }, { updated_at: longAgo })

export const ageDeployment = (world: World, id: number) => change(world, 'deployments', { id }, { updated_at: longAgo })

export const ageEnvironment = (world: World, id: number) =>
  change(world, 'environments', { id }, { updated_at: longAgo })

/** Available environments that changed long ago. */
export const addOldEnvironments = (world: World, projectId: number, count: number) =>
  world.rows(
    `insert into environments (project_id, name, slug, tier, updated_at)
      select $1, 'old ' || n, 'old-' || n, 'other', $3::timestamptz from generate_series(1, $2::integer) n`,
    [projectId, count, longAgo],
  )

/** The status `a` of a pipeline started a minute ago, the others half a minute ago. */
export const startStatuses = (world: World, pipelineId: number) =>
  world.rows(
    `update commit_statuses set started_at = now() - make_interval(secs => case name when 'a' then 60 else 30 end)
      where pipeline_id = $1`,
    [pipelineId],
  )

/** When the statuses of a pipeline ran, and their coverage, as an import may have stored them. */
export const storeStatuses = (
  world: World,
  pipeline_id: number,
  values: { readonly started_at: string; readonly finished_at?: string; readonly coverage?: number },
) => change(world, 'commit_statuses', { pipeline_id }, values)

export const statusesOf = (world: World, project_id: number) => find(world, 'commit_statuses', { project_id }, ['id'])

export const latestStatus = (world: World, projectId: number) =>
  world.rows('select id, pipeline_id from commit_statuses where project_id = $1 order by id desc limit 1', [projectId])

export const pipelinesOf = (world: World, project_id: number) => find(world, 'pipelines', { project_id }, ['id'])

export const environmentRow = (world: World, id: number) => find(world, 'environments', { id }, ['id'])
