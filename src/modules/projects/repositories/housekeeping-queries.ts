import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Records a request for housekeeping. False if there was one within the last `minutes`. */
export const claimHousekeeping = async (tx: Tx, projectId: number, minutes: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into project_housekeeping as h (project_id, asked_at)
    values (${projectId}, now())
    on conflict (project_id) do update
      set asked_at = now()
      where h.asked_at is null
        or h.asked_at not between now() - make_interval(mins => ${minutes}::integer) and now() + interval '1 minute'
  `)) > 0
