import { chownSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { Failure } from '../../kernel/failure.ts'

/** The user PostgreSQL runs as. `drop` is set when we are root and must become that user in the child. */
export type Owner = Readonly<{ uid: number; gid: number; drop: boolean }>

/**
 * The owner of the existing cluster; for a new one the current user, or `nobody` if that is root, which PostgreSQL refuses. Fails
 * if the cluster belongs to another user and this process cannot switch to it, or if the user has no name.
 */
export function findOwner(clusterDir: string): Owner {
  const uid = process.geteuid?.() ?? 0
  const gid = process.getegid?.() ?? 0
  const existing = statSync(clusterDir, { throwIfNoEntry: false })

  if (uid !== 0) {
    if (existing !== undefined && existing.uid !== uid) {
      throw new Failure(
        'unavailable',
        `The database in ${clusterDir} belongs to user ${existing.uid} and this is user ${uid}: start Stithy as the same user as before.`,
      )
    }
    requireName(uid)
    return { uid, gid, drop: false }
  }
  if (existing !== undefined && existing.uid !== 0) return { uid: existing.uid, gid: existing.gid, drop: true }
  return { ...unprivilegedUser(), drop: true }
}

export function giveTo(owner: Owner, path: string): void {
  if (owner.drop) chownSync(path, owner.uid, owner.gid)
}

/** Users who may connect: the owner and root (root may run a cluster of another user). */
export const clientNames = (): string[] => [...new Set([userInfo().username, 'root'])]

/** PostgreSQL looks up its user by id, and fails without a message if it has no name. */
function requireName(uid: number): void {
  try {
    userInfo()
  } catch {
    throw new Failure(
      'unavailable',
      `The embedded PostgreSQL needs a user with a name, and user ${uid} is not in /etc/passwd: add it there, or set STITHY_DATABASE_URL.`,
    )
  }
}

function unprivilegedUser(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((text) => text.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) {
    throw new Failure(
      'unavailable',
      'PostgreSQL does not run as root and there is no user "nobody" to run it: start Stithy as an ordinary user, or set STITHY_DATABASE_URL.',
    )
  }
  return { uid: Number(uid), gid: Number(gid) }
}
