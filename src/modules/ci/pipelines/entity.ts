import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { Site } from '../../../api/site.ts'
import { nullOid } from '../../../git/format/oid.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { PipelineDetailRow, PipelineRow } from './queries.ts'
import { type Status, statuses } from './status.ts'

type Named = { readonly id: number; readonly full_path: string }

/** A pipeline and its project; all rows of a page have the same project. */
type Shown<Row extends PipelineRow> = { readonly pipeline: Row; readonly project: Named }

const pipelineUrl = (site: Site, { full_path }: Named, id: number) => `${site.url}/${full_path}/-/pipelines/${id}`

const reference = {
  id: Type.Integer({ description: 'ID of the pipeline' }),
  project_id: Type.Integer({ description: 'ID of the project' }),
  sha: Type.String({ description: 'Full hash of the commit' }),
  ref: Type.String({ description: 'Branch or tag' }),
  status: Type.String({ description: 'State of the pipeline, derived from its latest statuses', enum: [...statuses] }),
  created_at: timestamp('Time at which the pipeline was created'),
  updated_at: timestamp('Time of the last state change'),
  web_url: Type.String({ description: 'URL of the pipeline page' }),
}

/** A pipeline as other records contain it. */
export const PipelineReferenceSchema = Type.Object(reference, { title: 'PipelineReference' })

export const pipelineReference = (
  pipeline: Pick<PipelineRow, 'id' | 'sha' | 'ref' | 'status' | 'created_at' | 'updated_at'>,
  project: Named,
  site: Site,
) => ({
  id: pipeline.id,
  project_id: project.id,
  sha: pipeline.sha as string,
  ref: pipeline.ref,
  status: pipeline.status as string,
  created_at: pipeline.created_at,
  updated_at: pipeline.updated_at,
  web_url: pipelineUrl(site, project, pipeline.id),
})

const listed = {
  ...reference,
  iid: Type.Integer({ description: 'Number within the project, from 1' }),
  source: Type.String({ description: 'What created the pipeline; `external` if reported statuses did' }),
}

const listedOf = ({ pipeline, project }: Shown<PipelineRow>, site: Site) => ({
  ...pipelineReference(pipeline, project, site),
  iid: pipeline.iid,
  source: pipeline.source,
})

/** A pipeline in a list. */
export const Pipeline = entity({
  name: 'Pipeline',
  schema: Type.Object(listed),
  present: (row: Shown<PipelineRow>, { site }) => listedOf(row, site),
})

/** Display names of statuses, where they differ. */
const words: Partial<Record<Status, string>> = { success: 'passed', scheduled: 'delayed', manual: 'blocked' }

/** The record of one pipeline. */
export function pipelineDetail(row: Shown<PipelineDetailRow>, view: RecordView) {
  const { pipeline, project } = row
  const word = words[pipeline.status] ?? pipeline.status
  return {
    ...listedOf(row, view.site),
    before_sha: nullOid,
    tag: pipeline.tag,
    user: pipeline.user && userReference(pipeline.user, view),
    started_at: pipeline.started_at,
    finished_at: pipeline.finished_at,
    duration: pipeline.duration,
    coverage: pipeline.coverage,
    detailed_status: {
      icon: `status_${pipeline.status}`,
      text: word,
      label: word,
      group: pipeline.status,
      tooltip: word,
      details_path: `/${project.full_path}/-/pipelines/${pipeline.id}`,
    },
  }
}

/** One pipeline. */
export const PipelineDetail = entity({
  name: 'PipelineDetail',
  schema: Type.Object({
    ...listed,
    before_sha: Type.String({ description: 'All zeros, because no push creates it' }),
    tag: Type.Boolean({ description: 'True if the ref is a tag' }),
    user: nullable(UserReferenceSchema, { description: 'User who reported the first status' }),
    started_at: nullable(timestamp(), { description: 'Time at which the first status started; null before' }),
    finished_at: nullable(timestamp(), { description: 'Time at which the last status finished; null before' }),
    duration: nullable(Type.Integer({ description: 'Run time in seconds' })),
    coverage: nullable(Type.String({ description: 'Mean coverage of its statuses in percent' })),
    detailed_status: Type.Object(
      {
        icon: Type.String({ description: 'Name of an icon, such as `status_success`' }),
        text: Type.String({ description: 'Word for the state, such as `passed`' }),
        label: Type.String({ description: 'Same as `text`' }),
        group: Type.String({ description: 'State of the pipeline, such as `success`' }),
        tooltip: Type.String({ description: 'Same as `text`' }),
        details_path: Type.String({ description: 'Path of the pipeline page, relative to the URL of the instance' }),
      },
      { title: 'DetailedStatus', description: 'State for display' },
    ),
  }),
  present: pipelineDetail,
})
