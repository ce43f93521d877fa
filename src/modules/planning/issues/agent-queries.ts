import type { Db, Tx } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const agentRow = { user_agent: text, ip_address: text }
export type AgentRow = RowOf<typeof agentRow>

/** The row ends with the account of the user. */
export const insertAgent = (
  tx: Tx,
  issueId: number,
  userId: number,
  { user_agent, ip_address }: AgentRow,
): Promise<number> =>
  tx.run(sql`
    insert into issue_agents (issue_id, user_id, user_agent, ip_address)
    values (${issueId}, ${userId}, ${user_agent}, ${ip_address})
  `)

export const findAgent = (db: Db, issueId: number): Promise<AgentRow | undefined> =>
  db.row(agentRow, sql`select user_agent, ip_address from issue_agents where issue_id = ${issueId}`)
