import { allows } from '../../../access/policy.ts'
import { personalSnippetPolicy, snippetPolicy } from '../../../access/snippet-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { loadProject } from '../../projects/index.ts'
import { findSideRepository, type SideKind, type SideSubject } from '../../pushes/index.ts'
import { snippetBranch } from './branch.ts'
import { repositoryPath } from './entity.ts'
import { holderOf, onlyBranch, refusalOf } from './files.ts'
import { loadPersonalSnippet } from './personal-subject.ts'
import { findProjectSnippet, findSnippet, type SnippetRow } from './queries.ts'
import { snippetFacts } from './subject.ts'

const refusals = {
  fetch: 'You are not allowed to download code from this snippet.',
  push: 'You are not allowed to update this snippet.',
}

const pathOfSnippet = /^(?:(.+)\/)?snippets\/(\d{1,15})$/i

/**
 * Git access to snippets, at `group/project/snippets/1.git` and `snippets/1.git`: who may change one through the API may push to it.
 * Deploy keys and deploy tokens are for code only.
 */
export const snippetAccess: SideKind = {
  kinds: ['snippet'],
  async find(ctx, path) {
    const [, project, id] = pathOfSnippet.exec(path) ?? []
    if (id === undefined) return undefined
    return project === undefined ? ofUser(ctx, Number(id)) : ofProject(ctx, project, Number(id))
  },
  async load(ctx, { id }) {
    const row = await findSnippet(ctx.db, id)
    if (!row) return undefined
    return row.project_id === null ? ofUser(ctx, id) : ofProject(ctx, String(row.project_id), id)
  },
}

const isMachine = ({ actor }: Ctx): boolean => (actor?.deployKey ?? actor?.deployToken) !== undefined

async function ofUser(ctx: Ctx, id: number): Promise<SideSubject | undefined> {
  const row = isMachine(ctx) ? undefined : await loadPersonalSnippet(id, ctx)
  const may = (ability: 'read_snippet' | 'update_snippet') =>
    row !== undefined && allows(personalSnippetPolicy[ability], ctx.actor, row.facts)
  return row && subjectOf(ctx, row, { read: may('read_snippet'), write: may('update_snippet') })
}

async function ofProject(ctx: Ctx, name: string, id: number): Promise<SideSubject | undefined> {
  const project = isMachine(ctx) ? undefined : await loadProject(name, ctx)
  const row = project && (await findProjectSnippet(ctx.db, ctx.actor, project.id, id))
  if (!row) return undefined
  const facts = snippetFacts(ctx.actor, row, project)
  const may = (ability: 'read_project' | 'read_snippet' | 'update_snippet') =>
    allows(snippetPolicy[ability], ctx.actor, facts)
  const read = may('read_project') && may('read_snippet')
  return subjectOf(ctx, row, { read, write: read && may('update_snippet') })
}

async function subjectOf(
  ctx: Ctx,
  row: SnippetRow,
  { read, write }: { readonly read: boolean; readonly write: boolean },
): Promise<SideSubject> {
  const holder = holderOf(row.id)
  return {
    holder,
    row: await findSideRepository(ctx.db, holder),
    fullPath: repositoryPath(row),
    isVisible: read,
    mayFetch: read,
    mayPush: write,
    refusals,
    violation: (changes, objects) => violation(ctx, changes, objects),
  }
}

/** The limits of the API hold for pushes: one branch, the number of files, the size of each. */
async function violation(
  ctx: Ctx,
  changes: readonly RefChange[],
  objects: () => Promise<Repository>,
): Promise<string | undefined> {
  const branch = branchRef(snippetBranch)
  const repo = await objects()
  for (const { name, to } of changes) {
    if (name !== branch || to === null) return onlyBranch
    const refusal = await refusalOf(ctx, repo, to as Oid)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
