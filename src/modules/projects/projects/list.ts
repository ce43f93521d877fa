import type { Ctx } from '../../../api/ctx.ts'
import { as, type Variant } from '../../../api/endpoint.ts'
import { fetchPage, fetchStamps, type Page } from '../../../api/page.ts'
import { isPrivateTo } from '../../accounts/index.ts'
import { cachedProjects, cachedSimpleProjects } from './cached.ts'
import { Project } from './entity.ts'
import { listProjects, type ProjectFilters, type ProjectSet } from './list-queries.ts'
import { projectRecordRow } from './record-queries.ts'

type ListParams = ProjectFilters & { simple: boolean; statistics?: boolean; with_custom_attributes: boolean }

/** A page of projects, in the form that the caller requested and may see. */
export async function projectsPage(ctx: Ctx, set: ProjectSet, params: ListParams, page: Page): Promise<Variant> {
  const stamps = () => fetchStamps(ctx.db, listProjects(ctx.actor, set, params, 'stamps'), page)
  if (params.simple || ctx.actor === null) return as(cachedSimpleProjects, await stamps())
  const customAttributes = params.with_custom_attributes && ctx.actor.admin
  if (!params.statistics && !customAttributes) return as(cachedProjects, await stamps())
  const options = { statistics: params.statistics === true, customAttributes }
  return as(Project, await fetchPage(ctx.db, projectRecordRow, listProjects(ctx.actor, set, params, options), page))
}

/** A page of projects that show what a user does: empty if the profile is private to the caller. */
export const projectsOfUser = (
  ctx: Ctx,
  user: Parameters<typeof isPrivateTo>[1],
  set: ProjectSet,
  params: ListParams,
  page: Page,
): Promise<Variant> => projectsPage(ctx, isPrivateTo(ctx, user) ? { of: 'nothing' } : set, params, page)
