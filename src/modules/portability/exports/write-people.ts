import { join } from 'node:path'
import type { Db } from '../../../db/db.ts'
import { portablePeople } from '../../accounts/index.ts'
import { LineFile } from '../records/write-records.ts'

const peoplePerStatement = 1000

/** Writes the people whom records name; undefined if there are none. Only administrators see the addresses of others. */
export async function writePeople(
  db: Db,
  usernames: ReadonlySet<string>,
  folder: string,
  withAddresses: boolean,
): Promise<LineFile | undefined> {
  if (usernames.size === 0) return undefined
  const file = new LineFile(join(folder, 'people'))
  const names = [...usernames].sort()
  for (let at = 0; at < names.length; at += peoplePerStatement) {
    const people = await portablePeople(db, names.slice(at, at + peoplePerStatement), { withAddresses })
    await file.add(
      people.map(({ username, name, email }) => JSON.stringify({ username, name, ...(email !== null && { email }) })),
    )
  }
  return file
}
