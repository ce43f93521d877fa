import type { Converter } from './converter.ts'
import { type Nested, oneIn, timesOf } from './values.ts'

/** Adds a member as a record of a relation, and makes the user known by id, also one who only asked for access. */
export async function addMember(
  to: Converter,
  member: Nested,
  { name, within }: { readonly name: 'project_members' | 'members'; readonly within?: Nested },
): Promise<void> {
  const user = oneIn(member, 'user')
  const username = user?.['username']
  if (!user || typeof username !== 'string') return to.leaveOut(name)
  const email = typeof user['email'] === 'string' ? user['email'] : undefined
  to.addPerson(user['id'], { username, name: username, email })
  if (member['requested_at'] != null) return to.leaveOut(name)
  await to.add(name, {
    ...within,
    user: username,
    access_level: member['access_level'],
    expires_at: member['expires_at'],
    ...timesOf(member),
  })
}
