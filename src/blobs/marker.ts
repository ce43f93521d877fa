import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../kernel/durable.ts'
import { missingAs } from '../kernel/missing.ts'
import { writePrivateFile } from '../kernel/private-file.ts'
import { inObjects } from './in-objects.ts'
import { isS3, storeName } from './location.ts'

/*
 * A store of blobs contains the id of the installation to which it belongs, beside the blobs: a file in a folder, or an object below the
 * prefix. The name is not that of a blob.
 */
const name = 'stithy-installation'

/** Where the marker of a store is, for messages. */
export const markerPlace = (url: string): string =>
  isS3(url) ? `the object ${storeName(url)}/${name}` : join(fileURLToPath(url), name)

/** The text of the marker; undefined if the store has none. */
export async function readMarker(url: string): Promise<string | undefined> {
  if (!isS3(url)) return (await readFile(markerPlace(url), 'utf8').catch(missingAs(undefined)))?.trim()
  return await inObjects(url, async (objects) => {
    const found = await objects.get(name)
    return found && (await buffer(found.body)).toString().trim()
  })
}

/** Writes the marker of a store, durably, in place of another. Creates a folder that is missing. */
export async function writeMarker(url: string, installation: string): Promise<void> {
  const text = `${installation}\n`
  if (isS3(url))
    return inObjects(url, (objects) => objects.put(name, Buffer.from(text), hash('sha256', text, 'base64')))
  await makeFolder(fileURLToPath(url), 0o700)
  writePrivateFile(markerPlace(url), text)
}

/** Whether a key of object storage is that of a marker. */
export const isMarker = (key: string): boolean => key === name
