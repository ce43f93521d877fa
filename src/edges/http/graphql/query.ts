import type { Actor } from '../../../access/actor.ts'
import { instanceFacts, instancePolicy } from '../../../access/instance-policy.ts'
import { visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import { Failure } from '../../../kernel/failure.ts'
import { findUser, type UserReferenceRow, userReference } from '../../../modules/accounts/index.ts'
import { countGroupsOf } from '../../../modules/groups/index.ts'
import { apiVersion, revision } from '../../../modules/instance/index.ts'
import { personalNamespaceOf } from '../../../modules/namespaces/index.ts'
import { loadProject, type ProjectSubject } from '../../../modules/projects/index.ts'
import { isDraft, type MergeRequestSubject, mergeRequest } from '../../../modules/review/index.ts'

const globalId = (type: string, id: number): string => `gid://gitlab/${type}/${id}`

/** The fields of `Query`. They check the same policies as the endpoints of the REST API. */
export const queryFor = (ctx: Ctx) => ({
  currentUser: () =>
    ctx.actor && allows(instancePolicy.know_oneself, ctx.actor, instanceFacts) ? currentUserOf(ctx, ctx.actor) : null,
  metadata: () =>
    allows(instancePolicy.read_version, ctx.actor, instanceFacts)
      ? { version: apiVersion, revision, enterprise: ctx.plan !== 'free' }
      : null,
  async project({ fullPath }: { fullPath: string }) {
    const project = fullPath.includes('/') && !fullPath.includes('\0') ? await loadProject(fullPath, ctx) : undefined
    return project && allows(projectPolicy.read_project, ctx.actor, project.facts) ? projectOf(ctx, project) : null
  },
})

async function currentUserOf(ctx: Ctx, actor: Actor) {
  const row = await findUser(ctx.db, actor.id)
  return (
    row && {
      ...userFields(ctx, row),
      bot: row.kind === 'bot',
      groupCount: () => countGroupsOf(ctx.db, actor.id),
      async namespace() {
        const namespace = await personalNamespaceOf(ctx.db, actor, actor.id)
        return namespace && { id: globalId('Namespaces::UserNamespace', namespace.id) }
      },
      publicEmail: row.public_email,
    }
  )
}

async function userOf(ctx: Ctx, id: number) {
  const row = await findUser(ctx.db, id)
  return row && userFields(ctx, row)
}

function userFields(ctx: Ctx, row: UserReferenceRow) {
  const user = userReference(row, ctx)
  return {
    id: globalId('User', user.id),
    username: user.username,
    name: user.name,
    state: user.state,
    active: user.state === 'active',
    avatarUrl: user.avatar_url,
    webUrl: user.web_url,
    webPath: `/${user.username}`,
  }
}

const projectOf = (ctx: Ctx, project: ProjectSubject) => ({
  id: globalId('Project', project.id),
  name: project.name,
  path: project.path,
  fullPath: project.full_path,
  visibility: visibilityName(project.visibility),
  archived: project.archived,
  webUrl: `${ctx.site.url}/${project.full_path}`,
  httpUrlToRepo: httpUrlToRepo(ctx.site, project.full_path),
  sshUrlToRepo: sshUrlToRepo(ctx.site, project.full_path),
  async mergeRequest({ iid }: { iid: string }) {
    const found = /^[1-9]\d{0,8}$/.test(iid) ? await readable(ctx, project.id, Number(iid)) : undefined
    return found ? mergeRequestOf(ctx, found) : null
  },
})

/** A merge request that the caller may read; `undefined` without it. */
async function readable(ctx: Ctx, projectId: number, iid: number): Promise<MergeRequestSubject | undefined> {
  try {
    return await mergeRequest.load({ id: String(projectId), merge_request_iid: iid }, ctx)
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'forbidden' || error.kind === 'not_found')) return undefined
    throw error
  }
}

const mergeRequestOf = (ctx: Ctx, row: MergeRequestSubject) => ({
  id: globalId('MergeRequest', row.id),
  iid: String(row.iid),
  title: row.title,
  description: row.description,
  state: row.state,
  draft: isDraft(row.title),
  sourceBranch: row.source_branch,
  targetBranch: row.target_branch,
  diffHeadSha: row.head_oid,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  webUrl: `${ctx.site.url}/${row.project.full_path}/-/merge_requests/${row.iid}`,
  author: () => userOf(ctx, row.author_id),
})
