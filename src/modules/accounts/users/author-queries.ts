import { raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { UserReferenceRow } from './queries.ts'

/** An author as records show them that have more than a reference. */
export type AuthorRow = UserReferenceRow & {
  readonly public_email: string
  readonly private_profile: boolean
  readonly created_at: Timestamp
}

/** The columns of `AuthorRow` as one JSON value, of the user with this alias. */
export const authorJson = (alias: string): Sql => sql`
  json_build_object(
    'id', ${raw(`${alias}.id`)}, 'username', ${raw(`${alias}.username`)}, 'name', ${raw(`${alias}.name`)}, 'email',
    ${raw(`${alias}.email`)}, 'state', ${raw(`${alias}.state`)}, 'avatar', ${raw(`${alias}.avatar`)}, 'public_email',
    ${raw(`${alias}.public_email`)}, 'private_profile', ${raw(`${alias}.private_profile`)}, 'created_at',
    ${wireTime(raw(`${alias}.created_at`))}
  )
`
