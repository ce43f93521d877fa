import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { joinHolder, readableRow, visibleHolder } from '../../discussion/index.ts'
import { issueColumns, issueRecordRow, issueTables } from '../issues/record-queries.ts'

/** An issue with its link to the epic. */
export const epicIssueRow = { ...issueRecordRow, epic_issue_id: integer, relative_position: integer }

/** The issues of an epic that the caller may read, in their order. */
export const issuesOfEpic = (caller: Caller, epicId: number): List => ({
  type: 'Issue',
  cached: true,
  select: sql`
    select ${issueColumns(caller)}, ei.id as epic_issue_id, ei.relative_position ${issueTables}
      join epic_issues ei on ei.issue_id = m.id
  `,
  from: sql`from epic_issues ei join issues m on m.id = ei.issue_id ${joinHolder('Issue')}`,
  key: raw('ei.id'),
  where: [sql`ei.epic_id = ${epicId}`, visibleHolder('Issue', caller), readableRow('Issue', caller)],
  order: [
    { by: raw('ei.relative_position'), direction: 'asc' },
    { by: raw('ei.id'), direction: 'asc' },
  ],
})
