import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../../db/db.ts'
import { readKey, writeKey } from '../../../git/repository/project-key.ts'
import { Failure } from '../../../kernel/failure.ts'
import { isThere } from '../../../kernel/missing.ts'
import { type Located, projectRepositoryDir, shardsOf, storagesIn } from '../repositories/location.ts'
import { type Marker, readMarker, writeMarker } from './marker.ts'
import {
  findContent,
  findInstallationId,
  knowsInstallations,
  projectKeysAfter,
  saveInstallationId,
  saveRepositoryKey,
} from './queries.ts'

export type Folder = { readonly dataDir: string; readonly repositoriesDir: string }

/**
 * Refuses, in one sentence, a database and a data folder that do not belong together. The first start gives both the
 * same id; the first start after the upgrade to this version also gives repositories the keys of their projects. Call
 * it at startup before repositories are used, with the lock of the data folder held.
 */
export async function pairInstallation(db: Database, folder: Folder): Promise<void> {
  const sides = await inspectSides(db, folder)
  const { id, marker, projects, commits, repositories } = sides
  if (id !== undefined && id === marker?.id) {
    if (marker.pending) writeMarker(folder.dataDir, { id, pending: false })
    return
  }
  // From here on, at most one side has a valid id.
  if (marker && !marker.pending) throw refusal(folder, sides)
  if (id !== undefined) {
    if (marker || projects || repositories) throw refusal(folder, sides)
    return writeMarker(folder.dataDir, { id, pending: false })
  }
  if ((repositories && !projects) || (commits && !repositories)) throw refusal(folder, sides)
  const made = marker?.id ?? randomUUID()
  writeMarker(folder.dataDir, { id: made, pending: true })
  await forEachRepository(db, folder, async (project, gitDir) => {
    if (readKey(gitDir) === undefined) await writeKey(gitDir, project.repository_key)
  })
  await db.transaction((tx) => saveInstallationId(tx, made))
  writeMarker(folder.dataDir, { id: made, pending: false })
}

/** Refuses a database with the id of another installation; runs before migrations. */
export async function refuseOther(db: Database, folder: Folder): Promise<void> {
  const marker = readMarker(folder.dataDir)
  if (!marker || !(await knowsInstallations(db))) return
  const id = await findInstallationId(db)
  if (id !== undefined && id !== marker.id) throw refusal(folder, await inspectSides(db, folder))
}

/** As `pairInstallation`, without writing: for command-line tools. */
export async function requirePair(db: Database, folder: Folder): Promise<void> {
  const sides = await inspectSides(db, folder)
  if (sides.id !== sides.marker?.id) throw refusal(folder, sides)
}

/**
 * Pairs a database and a data folder on the operator's request. Each project and the repository at its place get the
 * same key: the repository takes that of the project, or the project that of the repository. Other repositories stay
 * without a key. The caller holds the lock of the data folder. Returns the id, and those that the two had before.
 */
export async function adoptInstallation(db: Database, folder: Folder): Promise<{ id: string; former: string[] }> {
  const former = [await findInstallationId(db), legibleMarker(folder.dataDir)?.id].filter((id) => id !== undefined)
  // A new id, so that the former counterparts of both are refused from now on.
  const made = randomUUID()
  const keys: { projectId: number; key: string }[] = []
  await forEachRepository(db, folder, async (project, gitDir) => {
    const key = readKey(gitDir)
    if (key === undefined) await writeKey(gitDir, project.repository_key)
    else if (key !== project.repository_key) keys.push({ projectId: project.id, key })
  })
  await db.transaction(async (tx) => {
    for (const { projectId, key } of keys) await saveRepositoryKey(tx, projectId, key)
    await saveInstallationId(tx, made)
  })
  writeMarker(folder.dataDir, { id: made, pending: false })
  return { id: made, former }
}

/** The marker of a folder; undefined also if it is damaged, which adopting repairs. */
function legibleMarker(dataDir: string): Marker | undefined {
  try {
    return readMarker(dataDir)
  } catch {
    return undefined
  }
}

/** Gives a restored data folder the id that its database has. */
export const markInstallation = (dataDir: string, id: string): void => writeMarker(dataDir, { id, pending: false })

type Sides = Awaited<ReturnType<typeof inspectSides>>

const inspectSides = async (db: Database, { dataDir, repositoriesDir }: Folder) => ({
  id: await findInstallationId(db),
  marker: readMarker(dataDir),
  ...(await findContent(db)),
  repositories: await hasRepositories(repositoriesDir),
})

function refusal({ dataDir }: Folder, { id, marker, projects, repositories }: Sides): Failure {
  const named = (side: string | undefined) => (side === undefined ? 'no installation yet' : `installation ${side}`)
  return new Failure(
    'conflict',
    `The database (${named(id)}, ${projects ? 'with' : 'without'} projects) and the data folder ${dataDir} ` +
      `(${named(marker?.id)}, ${repositories ? 'with' : 'without'} repositories) do not belong together: ` +
      'set STITHY_DATABASE_URL and STITHY_DATA_DIR to two that do, or, if you know that each project of this database belongs ' +
      'to the repository that has its number in this folder, run "stithy adopt" once.',
  )
}

async function hasRepositories(repositoriesDir: string): Promise<boolean> {
  for (const storage of await storagesIn(repositoriesDir))
    for (const shard of await shardsOf(join(repositoriesDir, storage), 'projects'))
      if ((await readdir(shard)).some((name) => /^\d+\.git$/.test(name))) return true
  return false
}

const page = 500
/** Maximum concurrency; each task writes and flushes a file. */
const maxConcurrent = 16

/** Runs `work` for each repository at the place of a project. */
async function forEachRepository(
  db: Database,
  folder: Folder,
  work: (project: Located, gitDir: string) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const projects = await projectKeysAfter(db, after, page)
    if (projects.length === 0) return
    after = projects.at(-1)!.id
    const found = projects
      .map((project) => ({ project, gitDir: projectRepositoryDir(folder, project) }))
      .filter(({ gitDir }) => isThere(gitDir))
    for (let at = 0; at < found.length; at += maxConcurrent)
      await Promise.all(found.slice(at, at + maxConcurrent).map(({ project, gitDir }) => work(project, gitDir)))
  }
}
