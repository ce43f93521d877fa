import { type Sql, sql } from './sql.ts'

/** The rows of a statement, or one of nulls if it has none: a result without rows would not be cached. Its shape is `allNullable`. */
export const orNothing = (rows: Sql): Sql =>
  sql`select found.* from (values (true)) as always left join (${rows}) as found on true`
