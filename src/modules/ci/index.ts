export { findPreviousCommit } from './deployments/queries.ts'
export { getDeployment } from './deployments/service.ts'
export {
  Pipeline,
  PipelineDetail,
  PipelineReferenceSchema,
  pipelineDetail,
  pipelineReference,
} from './pipelines/entity.ts'
export {
  choosePipeline,
  findNewestPipeline,
  findPipeline,
  insertPipeline,
  listPipelinesFor,
  lockCommit,
  newestPipelineIdSql,
  newestPipelines,
  newestPipelinesOfRefs,
  newestStatusSql,
  type PipelineDetailRow,
  type PipelineRow,
  pipelineRow,
} from './pipelines/queries.ts'
export { emitPipelineChange, getPipeline, refreshPipeline, shortName } from './pipelines/service.ts'
export { isActive, isFinished, isPassing, type Status, statuses } from './pipelines/status.ts'
export { environmentRelations, pipelineRelation, statusColumns } from './portable/queries.ts'
