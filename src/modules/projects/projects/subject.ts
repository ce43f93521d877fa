import { Type } from 'typebox'
import { levels } from '../../../access/levels.ts'
import type { Facts } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { findProject, type ProjectRow } from './queries.ts'
import { findStampedProject, type ProjectStamp } from './record-queries.ts'

export type ProjectSubject = ProjectRow & { readonly facts: Facts }
export type StampedProject = ProjectRow & ProjectStamp & { readonly facts: Facts }

/** Facts for the policy of projects. */
export const projectFacts = (row: ProjectRow): Facts => ({
  visibility: row.visibility,
  level: row.level ?? 0,
  withinLimits: row.within_limits,
  features: {
    issues: row.issues_access_level,
    repository: row.repository_access_level,
    merge_requests: row.merge_requests_access_level,
    builds: row.builds_access_level,
    wiki: row.wiki_access_level,
    snippets: row.snippets_access_level,
    container_registry: row.container_registry_access_level,
    // A fork copies the repository, so forking needs access to it.
    forking: Math.min(row.forking_access_level, row.repository_access_level),
  },
  flags: {
    archived: row.archived,
    importing: row.import_status === 'scheduled' || row.import_status === 'started',
    private_jobs: !row.public_builds,
    guest_of_public_jobs: row.public_builds && (row.level ?? 0) >= levels.guest,
  },
})

/**
 * Parses the project in a path: digits are an id; any other text must contain a slash and is a full path. Some clients
 * append `.json` to the id, which is ignored.
 */
export function projectName(id: string): number | string | undefined {
  const digits = /^(\d{1,15})(\.json)?$/.exec(id)
  if (digits) return Number(digits[1])
  return id.includes('/') ? id : undefined
}

const params = Type.Object({ id: Type.String({ description: 'ID or full path of the project' }) })

export async function loadProject(id: string, ctx: Ctx): Promise<ProjectSubject | undefined> {
  const name = projectName(id)
  const row = name === undefined ? undefined : await findProject(ctx.db, ctx.actor, name)
  return row && { ...row, facts: projectFacts(row) }
}

/** A project with the columns that most operations need. One statement. */
export const project = subject({
  what: 'Project',
  params,
  policy: projectPolicy,
  visible: 'read_project',
  load: ({ id }, ctx) => loadProject(id, ctx),
})

/** A project with the stamp of its record, which tells whether the record is cached. One statement. */
export const stampedProject = subject({
  what: 'Project',
  params,
  policy: projectPolicy,
  visible: 'read_project',
  async load({ id }, ctx): Promise<StampedProject | undefined> {
    const name = projectName(id)
    const row = name === undefined ? undefined : await findStampedProject(ctx.db, ctx.actor, name)
    return row && { ...row, facts: projectFacts(row) }
  },
})
