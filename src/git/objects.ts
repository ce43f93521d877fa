import { hash, randomUUID } from 'node:crypto'
import { access, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate as deflateCallback } from 'node:zlib'
import type { ObjectType } from './cat-file.ts'
import type { Oid } from './oid.ts'
import { pathToBytes } from './path-bytes.ts'
import type { Repository } from './repository.ts'

const deflate = promisify(deflateCallback)

/**
 * Writes a loose object, durably and without a process: a temporary file, fsync, rename, as git does. One that is there
 * already is left alone. The repository must exist. Nothing refers to it until a ref does.
 */
export async function writeObject(repo: Repository, type: ObjectType, content: Buffer): Promise<Oid> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const oid = hash('sha1', whole, 'hex') as Oid
  const folder = join(repo.gitDir, 'objects', oid.slice(0, 2))
  const path = join(folder, oid.slice(2))
  if (await isThere(path)) return oid
  await mkdir(folder, { recursive: true })
  const temporary = join(folder, `tmp_obj_${randomUUID()}`)
  try {
    const file = await open(temporary, 'wx', 0o444)
    try {
      await file.writeFile(await deflate(whole))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  // The name must last, too.
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
  return oid
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

export type NewTreeEntry = {
  readonly mode: '100644' | '100755' | '120000' | '160000' | '40000'
  readonly name: string
  readonly oid: Oid
}

/** Directories sort as if their names ended in a slash. */
const sortKey = ({ mode, name }: NewTreeEntry): Buffer => pathToBytes(mode === '40000' ? `${name}/` : name)

/** Writes a tree of these entries, in whatever order they are given. Names must be valid and differ. */
export function writeTree(repo: Repository, entries: readonly NewTreeEntry[]): Promise<Oid> {
  const sorted = entries.toSorted((a, b) => Buffer.compare(sortKey(a), sortKey(b)))
  const parts = sorted.flatMap(({ mode, name, oid }) => [
    Buffer.from(`${mode} `),
    pathToBytes(name),
    Buffer.from([0]),
    Buffer.from(oid, 'hex'),
  ])
  return writeObject(repo, 'tree', Buffer.concat(parts))
}

/** Who, and when: seconds since 1970 with the zone as `+0200`. */
export type NewSignature = { readonly name: string; readonly email: string; readonly at: Date; readonly zone?: string }

/** Git keeps these characters for itself; a name without any other is refused by it, so something stands in. */
const clean = (text: string, instead: string): string => text.replace(/[<>\n\0]/g, '').trim() || instead

const signature = ({ name, email, at, zone = '+0000' }: NewSignature): string =>
  `${clean(name, 'Unknown')} <${clean(email, '')}> ${Math.floor(at.getTime() / 1000)} ${zone}`

export type NewCommit = {
  readonly tree: Oid
  readonly parents: readonly Oid[]
  readonly author: NewSignature
  readonly committer: NewSignature
  readonly message: string
}

/** Writes a commit. */
export function writeCommit(repo: Repository, { tree, parents, author, committer, message }: NewCommit): Promise<Oid> {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${signature(author)}`,
    `committer ${signature(committer)}`,
    '',
    message.replaceAll('\0', ''),
  ]
  return writeObject(repo, 'commit', Buffer.from(lines.join('\n')))
}

export type NewTag = {
  readonly name: string
  readonly target: Oid
  readonly targetType: ObjectType
  readonly tagger: NewSignature
  readonly message: string
}

/** Writes an annotated tag. A ref must name it. */
export function writeTag(repo: Repository, { name, target, targetType, tagger, message }: NewTag): Promise<Oid> {
  const text = message.replaceAll('\0', '')
  const lines = [
    `object ${target}`,
    `type ${targetType}`,
    `tag ${name}`,
    `tagger ${signature(tagger)}`,
    '',
    text.endsWith('\n') ? text : `${text}\n`,
  ]
  return writeObject(repo, 'tag', Buffer.from(lines.join('\n')))
}
