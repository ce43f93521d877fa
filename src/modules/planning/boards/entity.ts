import { type TSchema, Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity, withoutHiddenFields } from '../../../api/entity.ts'
import { nullable, withKeywords } from '../../../api/schema.ts'
import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import type { Tier } from '../../../kernel/plan.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { namespaceUrl } from '../../namespaces/index.ts'
import { projectReferenceFields } from '../../projects/index.ts'
import { LabelReferenceSchema, labelReference } from '../labels/entity.ts'
import { MilestoneSchema, milestoneRecord } from '../milestones/entity.ts'
import type { ListRow } from './list-queries.ts'
import type { BoardProjectRow, BoardRow } from './queries.ts'

const none = '0 if there is none'

const offeredBy =
  (tier: Tier) =>
  <S extends TSchema>(schema: S, description: string) =>
    Type.Optional(withKeywords(schema, { description, tier }))
const [starter, premium] = [offeredBy('starter'), offeredBy('premium')]

export const BoardList = entity({
  name: 'BoardList',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the list' }),
    position: Type.Integer({ description: 'Place on the board, from 0' }),
    label: nullable(LabelReferenceSchema, {
      description: 'Label of its issues; null for a list of an assignee or a milestone',
    }),
    assignee: premium(nullable(UserReferenceSchema), 'Assignee of its issues; null for other lists'),
    milestone: premium(nullable(MilestoneSchema), 'Milestone of its issues; null for other lists'),
    max_issue_count: premium(Type.Integer(), `Maximum number of issues, which clients show; ${none}`),
    max_issue_weight: premium(Type.Integer(), `Maximum sum of weights, which clients show; ${none}`),
    limit_metric: premium(Type.Null(), 'Always null: both maxima apply'),
  }),
  present: (row: ListRow, ctx) => ({
    id: row.id,
    position: row.position,
    label: row.label && labelReference(row.label),
    assignee: row.assignee && userReference(row.assignee, ctx),
    milestone: row.milestone && milestoneRecord(row.milestone, ctx),
    max_issue_count: row.max_issue_count,
    max_issue_weight: row.max_issue_weight,
    limit_metric: null,
  }),
})

const BoardProject = Type.Object(
  {
    ...projectReferenceFields,
    http_url_to_repo: Type.String({ description: 'Clone URL for HTTP' }),
    ssh_url_to_repo: Type.String({ description: 'Clone URL for SSH' }),
    web_url: Type.String({ description: 'URL of the project page' }),
  },
  { title: 'BoardProject' },
)

const BoardGroup = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the group' }),
    name: Type.String({ description: 'Name of the group' }),
    web_url: Type.String({ description: 'URL of the group page' }),
  },
  { title: 'BoardGroup' },
)

const scope = (what: string) => `${what} that issues must have to be on the board; null for any`

export const Board = entity({
  name: 'Board',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the board' }),
    name: Type.String({ description: 'Name of the board' }),
    hide_backlog_list: Type.Boolean({ description: 'Clients hide the open issues that are in no list' }),
    hide_closed_list: Type.Boolean({ description: 'Clients hide the closed issues' }),
    project: nullable(BoardProject, { description: 'Project of the board; null for a board of a group' }),
    group: nullable(BoardGroup, { description: 'Group of the board; null for a board of a project' }),
    lists: Type.Array(BoardList.schema, { description: 'Lists, by position' }),
    milestone: starter(nullable(MilestoneSchema), scope('Milestone')),
    assignee: starter(nullable(UserReferenceSchema), scope('Assignee')),
    labels: starter(Type.Array(LabelReferenceSchema), 'Labels that issues must have to be on the board'),
    weight: starter(nullable(Type.Integer()), scope('Weight')),
  }),
  present: (row: BoardRow, ctx) => ({
    id: row.id,
    name: row.name,
    hide_backlog_list: row.hide_backlog_list,
    hide_closed_list: row.hide_closed_list,
    project: row.project && projectOf(row.project, ctx),
    group: row.group && {
      id: row.group.id,
      name: row.group.name,
      web_url: namespaceUrl(ctx.site, 'group', row.group.full_path),
    },
    lists: row.lists.map((list) => withoutHiddenFields(BoardList, ctx.plan, BoardList.present(list, ctx, undefined))),
    milestone: row.milestone && milestoneRecord(row.milestone, ctx),
    assignee: row.assignee && userReference(row.assignee, ctx),
    labels: row.labels.map(labelReference),
    weight: row.weight,
  }),
})

const projectOf = (project: BoardProjectRow, { site }: Ctx) => ({
  id: project.id,
  description: project.description,
  name: project.name,
  name_with_namespace: `${project.namespace_full_name} / ${project.name}`,
  path: project.path,
  path_with_namespace: project.full_path,
  created_at: project.created_at,
  http_url_to_repo: httpUrlToRepo(site, project.full_path),
  ssh_url_to_repo: sshUrlToRepo(site, project.full_path),
  web_url: `${site.url}/${project.full_path}`,
})
