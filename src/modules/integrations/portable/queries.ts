import { choice, flag, moment, supplied, whole, wordList, words } from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'
import { notNull, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { projectTriggers } from '../hooks/triggers.ts'

const stored = supplied({ ...words(10_000), kind: notNull(text) })

/** Hooks of a project, without tokens. A URL with a user name or password is a secret, so its hook is left out, as are services. */
export const hookRelation: Relation = {
  name: 'hooks',
  ...heldBy('hooks'),
  where: ({ id }) => sql`t.project_id = ${id} and t.service is null and t.shown_url !~ '^[a-z]+://[^/]*@'`,
  order: ['t.id'],
  columns: {
    url: { ...words(2048), column: 'shown_url' },
    triggers: wordList(choice(...projectTriggers), projectTriggers.length),
    branch_filter: words(4000),
    enable_ssl_verification: flag,
    created_at: moment,
    updated_at: moment,
    id: supplied(whole(1, Number.MAX_SAFE_INTEGER)),
    sealed_url: stored,
    host: stored,
    // The importer decides whether it sends: an edit enables it.
    disabled_until: supplied({ ...moment, reads: `now() + interval '100 years'` }),
  },
  holder: ['project_id'],
}
