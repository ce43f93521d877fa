import type { Oid } from '../../src/git/format/oid.ts'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { forkOf } from '../../src/modules/review/merge-requests/testing.ts'
import { type KeyPair, keyPair, withKey } from '../ssh.ts'
import { type Client, type TestGroup, unique, type World } from '../world.ts'
import type { Right } from './rights.ts'

/** The projects and users between which code moves in a case of the generated test. */
export type Stage = {
  readonly world: World
  /** The user whose right is revoked. A right of a token replaces the client. */
  ann: Client
  readonly key: KeyPair | undefined
  /** A deploy key of the guarded project that may push. */
  readonly deployKey: (KeyPair & { readonly id: number }) | undefined
  /** A user with rights of their own in every project. */
  readonly dan: Client
  readonly group: TestGroup
  /** The project in which ann has the right. */
  readonly guarded: StoredProject
  /** A fork of it that belongs to ann; dan is a maintainer. */
  readonly fork: StoredProject
  /** A fork of it that belongs to dan; ann is a reporter. */
  readonly danFork: StoredProject
  /** Where the branches of the guarded project are, as far as `publish` moved them. */
  readonly tips: Map<string, Oid>
  /** A folder for clones. */
  readonly folder: string
}

export async function setStage(world: World, right: Right, folder: string, hasSsh: boolean): Promise<Stage> {
  const visibility = right.visibility ?? 'private'
  const [ann, dan] = [await world.user(), await world.user()]
  const group = await world.group({ visibility })
  const guarded = await storedProject(world, { visibility, group, members: [[dan, 'reporter']] })
  // Otherwise guests read its pipelines, too.
  await world.root.put(`/projects/${guarded.id}`, { public_builds: false })
  const tips = new Map([['main', guarded.repository.commit({ a: 'a\n' })]])
  await right.grant({ world, ann, guarded, group })
  const [fork, danFork] = [await forkOf(world, guarded, ann), await forkOf(world, guarded, dan)]
  await world.root.post(`/projects/${fork.id}/members`, { user_id: dan.id, access_level: 40 })
  await world.root.post(`/projects/${danFork.id}/members`, { user_id: ann.id, access_level: 20 })
  const key = hasSsh ? await withKey(folder, ann) : undefined
  const deployKey = hasSsh ? await withDeployKey(folder, world, guarded) : undefined
  return { world, ann, key, deployKey, dan, group, guarded, fork, danFork, tips, folder }
}

async function withDeployKey(folder: string, world: World, { id }: StoredProject): Promise<KeyPair & { id: number }> {
  const key = await keyPair(folder)
  const added = await world.root.post(`/projects/${id}/deploy_keys`, { title: 'robot', key: key.text, can_push: true })
  if (added.status !== 201) throw new Error(added.text)
  return { ...key, id: added.json.id }
}

/** Whether a repository has an object. */
export function holds({ repository }: StoredProject, oid: Oid): boolean {
  try {
    repository.git('cat-file', '-e', oid)
    return true
  } catch {
    return false
  }
}

/** A new commit on a branch of the guarded project, which begins at `main`. */
export function publish({ guarded, tips }: Stage, branch: string, files?: Record<string, string>): Oid {
  const name = unique('file')
  const parents = [(tips.get(branch) ?? tips.get('main'))!]
  const oid = guarded.repository.commit(files ?? { [name]: `${name}\n` }, { branch, parents })
  tips.set(branch, oid)
  return oid
}
