import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity, withoutHiddenFields } from '../../../api/entity.ts'
import { described, timestamp } from '../../../api/schema.ts'
import { Issue, type IssueShown, issueRecord } from '../issues/entity.ts'
import { type LinkRow, type LinkType, linkTypes } from './queries.ts'

const link_type = Type.String({
  enum: [...linkTypes],
  description: 'What the issue of the path is to the other issue',
})

/** An issue in the list of links of another one. */
export const LinkedIssue = entity({
  name: 'LinkedIssue',
  schema: Type.Object({
    ...Issue.schema.properties,
    issue_link_id: Type.Integer({ description: 'ID of the link' }),
    link_type,
    link_created_at: timestamp('Time at which the link was created'),
    link_updated_at: timestamp('Time of the last change of the link'),
  }),
  present: ({ link, ...shown }: IssueShown & { readonly link: LinkRow }, ctx) => ({
    ...issueRecord(shown, ctx),
    issue_link_id: link.id,
    link_type: link.link_type as string,
    link_created_at: link.created_at,
    link_updated_at: link.updated_at,
  }),
})

/** A link as the issue of the path sees it. */
export type LinkShown = {
  readonly id: number
  readonly type: LinkType
  readonly source: IssueShown
  readonly target: IssueShown
}

export const IssueLink = entity({
  name: 'IssueLink',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the link' }),
    source_issue: described(Issue.schema, 'The issue of the path'),
    target_issue: described(Issue.schema, 'The issue to which it is linked'),
    link_type,
  }),
  present: ({ id, type, source, target }: LinkShown, ctx) => ({
    id,
    source_issue: sideOf(source, ctx),
    target_issue: sideOf(target, ctx),
    link_type: type as string,
  }),
})

const sideOf = (shown: IssueShown, ctx: Ctx) => withoutHiddenFields(Issue, ctx.plan, issueRecord(shown, ctx))
