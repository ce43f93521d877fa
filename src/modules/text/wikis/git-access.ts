import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type GroupSubject, loadGroup } from '../../groups/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findSideRepository, refusedPush, type SideKind, type SideSubject } from '../../pushes/index.ts'

const suffix = '.wiki'

/** The path of the project or group whose wiki is at this path. */
const holderPath = (path: string): string | undefined =>
  path.toLowerCase().endsWith(suffix) ? path.slice(0, -suffix.length) : undefined

const refusals = {
  fetch: 'You are not allowed to download code from this project.',
  push: refusedPush,
}

/** Git access to wikis of projects, at `group/project.wiki.git`: who may write pages through the API may push them. */
export const projectWikiAccess: SideKind = {
  kinds: ['project_wiki'],
  async find(ctx, path) {
    const of = holderPath(path)
    const project = of?.includes('/') ? await loadProject(of, ctx) : undefined
    return project && subjectOfProject(ctx, project)
  },
  async load(ctx, { id }) {
    const project = await loadProject(String(id), ctx)
    return project && subjectOfProject(ctx, project)
  },
}

async function subjectOfProject(ctx: Ctx, project: ProjectSubject): Promise<SideSubject> {
  const holder = { kind: 'project_wiki', id: project.id } as const
  const may = (ability: 'read_project' | 'read_wiki' | 'create_wiki') =>
    allows(projectPolicy[ability], ctx.actor, project.facts)
  return {
    holder,
    row: await findSideRepository(ctx.db, holder),
    fullPath: `${project.full_path}${suffix}`,
    isVisible: may('read_project'),
    mayFetch: may('read_wiki'),
    mayPush: may('create_wiki'),
    refusals,
  }
}

/** Git access to wikis of groups, at `group.wiki.git`. */
export const groupWikiAccess: SideKind = {
  kinds: ['group_wiki'],
  async find(ctx, path) {
    const of = holderPath(path)
    const group = of === undefined ? undefined : await loadGroup(of, ctx)
    return group && subjectOfGroup(ctx, group)
  },
  async load(ctx, { id }) {
    const group = await loadGroup(id, ctx)
    return group && subjectOfGroup(ctx, group)
  },
}

async function subjectOfGroup(ctx: Ctx, group: GroupSubject): Promise<SideSubject> {
  const holder = { kind: 'group_wiki', id: group.id } as const
  const may = (ability: 'read_group' | 'read_wiki' | 'create_wiki') =>
    allows(groupPolicy[ability], ctx.actor, group.facts)
  return {
    holder,
    row: await findSideRepository(ctx.db, holder),
    fullPath: `${group.full_path}${suffix}`,
    isVisible: may('read_group'),
    mayFetch: may('read_wiki'),
    mayPush: may('create_wiki'),
    refusals,
  }
}
