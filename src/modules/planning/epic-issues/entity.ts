import { Type } from 'typebox'
import { entity, withoutHiddenFields } from '../../../api/entity.ts'
import { described } from '../../../api/schema.ts'
import { Epic, type EpicShown, epicRecord } from '../epics/entity.ts'
import { Issue, type IssueShown, issueRecord } from '../issues/entity.ts'

const epic_issue_id = Type.Integer({ description: 'ID of the link between epic and issue' })
const relative_position = Type.Integer({ description: 'Order of the issue in the epic, lowest first' })

/** An issue in the list of an epic. */
export const IssueOfEpic = entity({
  name: 'IssueOfEpic',
  schema: Type.Object({ ...Issue.schema.properties, epic_issue_id, relative_position }),
  present: (
    { link, ...shown }: IssueShown & { readonly link: { readonly id: number; readonly relative_position: number } },
    ctx,
  ) => ({
    ...issueRecord(shown, ctx),
    epic_issue_id: link.id,
    relative_position: link.relative_position,
  }),
})

/** The link between an epic and an issue. */
export type EpicIssueShown = {
  readonly link: { readonly id: number; readonly relative_position: number }
  readonly epic: EpicShown
  readonly issue: IssueShown
}

export const EpicIssueLink = entity({
  name: 'EpicIssueLink',
  schema: Type.Object({
    id: epic_issue_id,
    relative_position,
    epic: described(Epic.schema, 'The epic of the path'),
    issue: described(Issue.schema, 'The issue that belongs to it'),
  }),
  present: ({ link, epic, issue }: EpicIssueShown, ctx) => ({
    id: link.id,
    relative_position: link.relative_position,
    epic: epicRecord(epic, ctx),
    issue: withoutHiddenFields(Issue, ctx.plan, issueRecord(issue, ctx)),
  }),
})
