import { instanceFacts } from '../../../access/instance-policy.ts'
import { levels } from '../../../access/levels.ts'
import type { Facts } from '../../../access/policy.ts'
import { personalSnippetPolicy, snippetsPolicy } from '../../../access/snippet-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { findPersonalSnippet, type SnippetRow } from './queries.ts'

export type PersonalSnippet = SnippetRow & { readonly facts: Facts }

/** A personal snippet, with the author as its owner. One statement. */
export async function loadPersonalSnippet(id: number, ctx: Ctx): Promise<PersonalSnippet | undefined> {
  const row = await findPersonalSnippet(ctx.db, id)
  const own = ctx.actor !== null && row?.author.id === ctx.actor.id
  return (
    row && {
      ...row,
      facts: { visibility: row.visibility, level: own ? levels.owner : levels.none, features: {}, flags: {} },
    }
  )
}

export const personalSnippet = subject({
  what: 'Snippet',
  params: Params({ id: Id({ description: 'ID of the snippet' }) }),
  policy: personalSnippetPolicy,
  visible: 'read_snippet',
  load: ({ id }, ctx) => loadPersonalSnippet(id as number, ctx),
})

/** All personal snippets together. Loading them runs no statement. */
export const personalSnippets = subject({
  what: 'Service',
  params: Params({}),
  policy: snippetsPolicy,
  visible: 'browse',
  load: async (_path, ctx) => ({
    facts: { ...instanceFacts, flags: { external: ctx.actor?.external === true } } as Facts,
  }),
})
