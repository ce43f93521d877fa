import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { instance } from '../instance/subject.ts'
import { countEverything, type InstanceStatistics } from './queries.ts'

const count = (description?: string) => Type.String({ ...(description !== undefined && { description }) })

/** Compat: clients read numbers with commas, as text. */
const grouped = (number: number): string => number.toLocaleString('en-US')

const Statistics = entity({
  name: 'InstanceStatistics',
  schema: Type.Object({
    forks: count('Number of forks'),
    issues: count('Number of issues'),
    merge_requests: count('Number of merge requests'),
    notes: count('Number of comments'),
    snippets: count('Number of snippets'),
    ssh_keys: count('Number of SSH keys'),
    users: count('Number of users'),
    active_users: count('People who may act'),
    projects: count('Number of projects'),
    groups: count('Number of groups'),
    milestones: count('Number of milestones'),
  }),
  present: (row: InstanceStatistics) => ({
    forks: grouped(row.forks),
    issues: grouped(row.issues),
    merge_requests: grouped(row.merge_requests),
    notes: grouped(row.notes),
    snippets: grouped(row.snippets),
    ssh_keys: grouped(row.ssh_keys),
    users: grouped(row.users),
    active_users: grouped(row.active_users),
    projects: grouped(row.projects),
    groups: grouped(row.groups),
    milestones: grouped(row.milestones),
  }),
})

export const statisticsRoutes = [
  endpoint({
    method: 'GET',
    path: '/application/statistics',
    summary: 'Get instance statistics',
    subject: instance,
    allow: 'administer',
    returns: Statistics,
    handle: ({ ctx }) => countEverything(ctx.db),
  }),
]
