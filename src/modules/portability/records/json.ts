import { readFile } from 'node:fs/promises'
import type { PortableRecord } from '../../../db/portable/relation.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { UnpackedFile } from '../archive/unpack.ts'
import { parseRecord } from './read-records.ts'

const maxJsonBytes = 16 * 1024 * 1024

/** An entry that is one JSON object. */
export async function jsonOf(file: UnpackedFile, name: string, maxBytes = maxJsonBytes): Promise<PortableRecord> {
  if (file.size > maxBytes) throw new ArchiveRefusal(`${name} is larger than ${maxBytes} bytes`)
  return parseRecord(await readFile(file.path), name)
}
