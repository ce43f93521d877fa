import type { Caller } from '../../../access/actor.ts'
import { visibilities } from '../../../access/levels.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { snippetPolicy } from '../../../access/snippet-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { notFound, refused } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findProjectSnippet, type SnippetRow } from './queries.ts'

export type SnippetSubject = SnippetRow & { readonly project: ProjectSubject; readonly facts: Facts }

export const snippetNotFound = () => notFound('Snippet')

/** Facts for `snippetPolicy`. */
export const snippetFacts = (
  caller: Caller,
  { hidden, author, visibility }: SnippetRow & { readonly hidden: boolean },
  { facts }: ProjectSubject,
): Facts => {
  const own = caller !== null && author.id === caller.id
  return {
    ...facts,
    flags: {
      ...facts.flags,
      hidden,
      own,
      internal_of_other: visibility === visibilities.internal && !own && !caller?.admin,
    },
  }
}

/**
 * A snippet of a project. Two statements; the one for the project is usually cached. Callers who cannot read snippets of the project, or
 * this one, cannot find out which ids exist.
 */
export async function loadSnippet(
  { id, snippet_id }: { id: string; snippet_id: number },
  ctx: Ctx,
): Promise<SnippetSubject | undefined> {
  const project = await loadProject(id, ctx)
  if (!project || !allows(snippetPolicy.read_project, ctx.actor, project.facts)) return undefined
  if (!allows(projectPolicy.read_snippet, ctx.actor, project.facts)) throw refused(ctx.actor)
  const row = await findProjectSnippet(ctx.db, ctx.actor, project.id, snippet_id)
  const facts = row && snippetFacts(ctx.actor, row, project)
  if (!row || !facts || !allows(snippetPolicy.read_snippet, ctx.actor, facts)) throw snippetNotFound()
  return { ...row, project, facts }
}

/** A snippet of a project with the facts that operations need. */
export const snippet = subject({
  what: 'Project',
  params: Params({
    id: Text({ description: 'ID or full path of the project' }),
    snippet_id: Id({ description: 'ID of the snippet' }),
  }),
  policy: snippetPolicy,
  visible: 'read_project',
  load: loadSnippet,
})
