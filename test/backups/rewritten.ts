import { pathToFileURL } from 'node:url'
import { type Entry, InventoryWriter, type NewEntry, Reader } from '../../src/backup/store/inventory.ts'
import { readManifest } from '../../src/backup/store/manifest.ts'
import { Pace } from '../../src/backup/store/pace.ts'
import { BackupStore } from '../../src/backup/store/store.ts'
import { type Location, Writer } from '../../src/backup/store/writer.ts'

export type Contents = {
  read(location: Extract<Entry, { is: 'file' }>['at']): Promise<Buffer>
  store(content: Buffer | string): Promise<Location>
}

/** Changes the list of the newest backup in a folder, as an older version or another program may have written it. */
export async function rewriteBackup(
  folder: string,
  change: (entry: Entry, contents: Contents) => NewEntry[] | Promise<NewEntry[]>,
): Promise<void> {
  using store = await BackupStore.open(pathToFileURL(folder).href, { keyFile: undefined })
  const id = (await store.ids()).at(-1)!
  const manifest = await readManifest(store, id)
  const reader = new Reader(store)
  const writer = new Writer(store, new Pace(1_000), new Set())
  const inventory = new InventoryWriter(writer)
  const contents: Contents = {
    read: (location) => reader.bytes(location),
    store: (content) => writer.bytes(Buffer.from(content)),
  }
  for await (const entry of reader.entries(manifest.inventory))
    for (const changed of await change(entry, contents)) await inventory.add(changed)
  await store.putManifest(id, { ...manifest, inventory: await inventory.end() })
}
