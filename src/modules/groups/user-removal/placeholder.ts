import type { Tx } from '../../../db/db.ts'
import { addUser, makePlaceholder, plainUser } from '../../accounts/index.ts'
import { findPlaceholder, freeName } from './queries.ts'

/**
 * Id of the placeholder account, which owns contributions of deleted users. Created on first use; it cannot sign in.
 */
export async function ensurePlaceholder(tx: Tx): Promise<number> {
  const found = await findPlaceholder(tx)
  if (found !== undefined) return found
  const username = await freeName(tx, 'ghost')
  const id = await addUser(tx, {
    ...plainUser,
    username,
    name: 'Ghost User',
    email: `${username}@example.com`,
    bio: 'This is a "Ghost User", created to hold all that was made by people whose accounts are gone.',
    can_create_group: false,
    projects_limit: 0,
  })
  await makePlaceholder(tx, id)
  return id
}
