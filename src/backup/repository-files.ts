import type { BigIntStats } from 'node:fs'
import { lstat, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { missingAs } from '../kernel/missing.ts'
import { type FileFacts, isAccepted, isRebuilt, leftOut, type NewEntry } from './store/inventory.ts'
import type { Piece, Writer } from './store/writer.ts'

type FileEntry = Extract<NewEntry, { is: 'file' }>
type Known = ReadonlyMap<string, { readonly facts?: FileFacts; readonly at: readonly Piece[] }>

/** The files of a pack that git reads. Others are temporary, or indexes of several packs, which change with them. */
const packFile = /^pack-[0-9a-f]{40}\.(pack|idx|rev|bitmap)$/

/** Housekeeping replaces packs; each time the files are listed again. */
const maxListings = 200

const factsOf = ({ size, ino, mtimeNs, ctimeNs }: BigIntStats): FileFacts => ({
  ...{ size: Number(size), inode: String(ino), mtime: String(mtimeNs), ctime: String(ctimeNs) },
})

const isSame = (one: FileFacts | undefined, other: FileFacts): boolean =>
  one !== undefined &&
  one.size === other.size &&
  one.inode === other.inode &&
  one.mtime === other.mtime &&
  one.ctime === other.ctime

/**
 * The files of a repository without its refs: a set in which all objects are that exist when it is called. Git may pack it meanwhile,
 * but nothing may delete unreachable objects. Files of objects never change, so those of the previous backup with the same facts
 * are not read again.
 */
export async function repositoryFiles(
  gitDir: string,
  known: Known,
  writer: Writer,
  problem: (text: string) => void,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = []
  for (const folder of ['', 'info'])
    for (const name of await filesIn(join(gitDir, folder))) {
      const path = join(folder, name)
      // Refs are stored in another form.
      if (isRebuilt(path)) continue
      if (isAccepted('file', path)) entries.push(...(await changingFile(gitDir, path, writer)))
      else problem(leftOut(path))
    }
  // Before the objects: it names only commits that are there now.
  entries.push(...(await commitGraph(gitDir, known, writer)))
  const taken = new Map<string, FileEntry>()
  for (let listing = 1; ; listing++) {
    const paths = await objectFiles(gitDir)
    let complete = paths !== undefined
    for (const path of paths ?? []) {
      if (taken.has(path)) continue
      const entry = await constantFile(gitDir, path, known, writer)
      if (entry) taken.set(path, entry)
      // Packed meanwhile: the next listing has the pack.
      else if (!isOptional(path)) complete = false
      if (!complete) break
    }
    if (complete) return [...entries, ...paths!.flatMap((path) => taken.get(path) ?? [])]
    if (listing === maxListings) throw new Error(`the objects in ${gitDir} change faster than they can be read`)
    await pause(Math.min(1_000, 5 * listing))
  }
}

/** Git makes these from the pack, and may replace or remove them. */
const isOptional = (path: string): boolean => /\.(rev|bitmap)$/.test(path)

/**
 * Paths of all objects. Undefined if packs appeared or disappeared while loose objects were listed: an object that was packed, or
 * unpacked, at that time might be in neither list.
 */
async function objectFiles(gitDir: string): Promise<string[] | undefined> {
  const before = await packFiles(gitDir)
  const loose: string[] = []
  for (const folder of await readdir(join(gitDir, 'objects')).catch(missingAs([]))) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    for (const name of await filesIn(join(gitDir, 'objects', folder)))
      if (/^[0-9a-f]{38}$/.test(name)) loose.push(`objects/${folder}/${name}`)
  }
  const after = await packFiles(gitDir)
  const indexes = (paths: readonly string[]) => paths.filter((path) => path.endsWith('.idx')).join()
  return indexes(before) === indexes(after) ? [...loose.sort(), ...after] : undefined
}

/** The files of complete packs: git creates the index last. */
async function packFiles(gitDir: string): Promise<string[]> {
  const names = (await filesIn(join(gitDir, 'objects/pack'))).filter((name) => packFile.test(name)).sort()
  const indexed = new Set(names.filter((name) => name.endsWith('.idx')).map((name) => name.replace(/\..*/, '')))
  return names.filter((name) => indexed.has(name.replace(/\..*/, ''))).map((name) => `objects/pack/${name}`)
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }).catch(missingAs([]))).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  )

/** The chain of commit-graph files, or nothing if it changes just now: it can be rebuilt. */
async function commitGraph(gitDir: string, known: Known, writer: Writer): Promise<FileEntry[]> {
  const folder = 'objects/info/commit-graphs'
  const path = `${folder}/commit-graph-chain`
  const chain = await readFile(join(gitDir, path)).catch(missingAs(undefined))
  if (!chain) return []
  const layers: FileEntry[] = []
  for (const hash of chain.toString().split('\n')) {
    if (!/^[0-9a-f]{40}$/.test(hash)) continue
    const layer = await constantFile(gitDir, `${folder}/graph-${hash}.graph`, known, writer)
    if (!layer) return []
    layers.push(layer)
  }
  return [{ is: 'file', path, size: chain.length, at: await writer.bytes(chain) }, ...layers]
}

/** A file that is replaced as a whole when it changes. Empty if it does not exist. */
async function changingFile(gitDir: string, path: string, writer: Writer): Promise<FileEntry[]> {
  const entry = await read(gitDir, path, writer)
  return entry ? [{ is: 'file', path, size: entry.size, at: entry.at }] : []
}

/** A file whose content never changes. Undefined if it does not exist. */
async function constantFile(
  gitDir: string,
  path: string,
  known: Known,
  writer: Writer,
): Promise<FileEntry | undefined> {
  const found = known.get(path)
  if (found) {
    const facts = await lstat(join(gitDir, path), { bigint: true }).then(factsOf, missingAs(undefined))
    if (!facts) return undefined
    if (isSame(found.facts, facts) && writer.has(found.at))
      return { is: 'file', path, size: facts.size, facts, at: found.at }
  }
  return read(gitDir, path, writer)
}

async function read(gitDir: string, path: string, writer: Writer): Promise<FileEntry | undefined> {
  const file = await open(join(gitDir, path), 'r').catch(missingAs(undefined))
  if (!file) return undefined
  try {
    const facts = factsOf(await file.stat({ bigint: true }))
    const { location, size } = await writer.file(file.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 }))
    return { is: 'file', path, size, facts, at: location }
  } finally {
    await file.close()
  }
}
