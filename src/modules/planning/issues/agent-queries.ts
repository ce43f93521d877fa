import type { Db } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const agentRow = { user_agent: text, ip_address: text }
export type AgentRow = RowOf<typeof agentRow>

/** Where the request to create an issue came from. The row ends with the account of the user. */
export const findAgent = (db: Db, issueId: number): Promise<AgentRow | undefined> =>
  db.row(agentRow, sql`select user_agent, ip_address from issue_agents where issue_id = ${issueId}`)
