import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { PortableRecord } from '../../../db/portable/relation.ts'
import { matchPeople } from '../../accounts/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import { limitsFor, type Unpacked, type UnpackedFile, unpack } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import { People, type Person, personText } from '../records/people.ts'
import { recordsIn } from '../records/read-records.ts'

/** Unpacks an archive of the blob store into an empty folder, and checks its version. */
export async function openArchive(ctx: Ctx, digest: Digest, folder: string): Promise<Unpacked> {
  const found = await ctx.blobs.get(digest)
  if (!found) throw new ArchiveRefusal('The archive no longer exists')
  const unpacked = await unpack(found.body, folder, limitsFor(found.sizeBytes))
  const version = unpacked.get(entries.versionEntry)
  const text = version && version.size <= 100 ? (await readFile(version.path, 'latin1')).trim() : ''
  if (!/^\d+(\.\d+)*$/.test(text)) throw new ArchiveRefusal('Incorrect VERSION format')
  if (text !== entries.archiveVersion)
    throw new ArchiveRefusal(`Import version mismatch: Required ${entries.archiveVersion} but was ${text}`)
  return unpacked
}

const maxPeople = 1_000_000
const peoplePerStatement = 1000

/**
 * The people of an archive. Administrators decide who they are here: by address, else by user name. For other importers everyone but the
 * importer is unknown, so that no archive puts words into the mouths of others.
 */
export async function readPeople(
  ctx: Ctx,
  importer: Ctx,
  unpacked: Unpacked,
  entry = entries.peopleEntry,
): Promise<People> {
  const file = unpacked.get(entry)
  const people: Person[] = []
  if (file)
    for await (const { record, line } of recordsIn(file.path, 'users')) {
      if (line > maxPeople) throw new ArchiveRefusal(`users has more than ${maxPeople} records`)
      people.push(personOf(record, line))
    }
  return matched(ctx, importer, people)
}

/** Finds the users of this installation who are these people. */
export async function matched(ctx: Ctx, importer: Ctx, people: readonly Person[]): Promise<People> {
  const actor = importer.actor!
  const ids = new Map<string, number>()
  for (let at = 0; at < people.length; at += peoplePerStatement)
    for (const { username, id } of await matchPeople(ctx.db, people.slice(at, at + peoplePerStatement)))
      if (actor.admin || id === actor.id) ids.set(username, id)
  return new People(people, ids, actor.id)
}

function personOf(record: PortableRecord, line: number): Person {
  const text = (name: string): string | null => {
    const value = record[name] ?? null
    if (value === null) return null
    if (typeof value !== 'string' || !personText.accepts(value))
      throw new ArchiveRefusal(`users, line ${line}: ${name} is not valid`)
    return value
  }
  const username = text('username')
  if (username === null) throw new ArchiveRefusal(`users, line ${line}: username is missing`)
  return { username, name: text('name') ?? username, email: text('email') }
}

/** A stream of an unpacked file. */
export const streamOf = ({ path }: UnpackedFile) => createReadStream(path)
