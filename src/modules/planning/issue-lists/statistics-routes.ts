import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { group } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { placeOfGroup, placeOfProject } from '../filters/places.ts'
import { allStatisticsParams, filtersOf, groupStatisticsParams, projectStatisticsParams } from './params.ts'
import { countIssues, type IssueCounts } from './queries.ts'

const count = (description: string) => Type.Integer({ description })

const IssueStatistics = entity({
  name: 'IssueStatistics',
  schema: Type.Object({
    statistics: Type.Object(
      {
        counts: Type.Object(
          {
            all: count('Number of issues that match the filters'),
            closed: count('Number of closed issues, counted up to 100,000'),
            opened: count('Number of open issues, counted up to 100,000'),
          },
          { title: 'IssueCounts', description: 'Numbers of issues that the caller can read' },
        ),
      },
      { title: 'IssueStatisticsCounts', description: 'Counts by state' },
    ),
  }),
  present: ({ opened, closed }: IssueCounts) => ({
    statistics: { counts: { all: opened + closed, closed, opened } },
  }),
})

export const issueStatisticsRoutes = [
  endpoint({
    method: 'GET',
    path: '/issues_statistics',
    summary: 'Get issue statistics',
    description: 'Counts the issues the caller created, unless `scope` is given.',
    subject: instance,
    allow: 'use',
    params: allStatisticsParams,
    returns: IssueStatistics,
    handle: ({ params, ctx }) => countIssues(ctx.db, ctx.actor, { of: 'everyone' }, filtersOf(params, ctx.plan)),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/issues_statistics',
    summary: 'Get issue statistics of a project',
    subject: project,
    allow: 'read_issue',
    params: projectStatisticsParams,
    returns: IssueStatistics,
    handle: ({ subject, params, ctx }) =>
      countIssues(ctx.db, ctx.actor, placeOfProject(subject), filtersOf(params, ctx.plan)),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/issues_statistics',
    summary: 'Get issue statistics of a group',
    description: 'Includes the projects of all subgroups.',
    subject: group,
    allow: 'list_issues',
    params: groupStatisticsParams,
    returns: IssueStatistics,
    handle({ subject, params, ctx }) {
      const set = placeOfGroup(subject, { archived: !params.non_archived })
      return countIssues(ctx.db, ctx.actor, set, filtersOf(params, ctx.plan))
    },
  }),
]
