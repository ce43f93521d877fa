import { blobCheck, damagedIn } from '../blobs/check.ts'
import type { LocatedBlobs } from '../blobs/located.ts'
import { type Config, repositoriesDir } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { checkRepositories, storagesIn } from '../modules/projects/index.ts'
import { checkSideRepositories } from '../modules/pushes/index.ts'
import type { Services } from '../processes/app-module.ts'
import { requireOwnData } from './installation.ts'
import { checkNamedBlobs } from './named-blobs.ts'
import { openApp } from './open-app.ts'

/** Compares the database with repositories and blobs; one sentence for each problem. `readsBlobs` reads every blob in full. */
export async function checkData(
  config: Config,
  services: Services,
  { readsBlobs }: { readonly readsBlobs: boolean },
  progress: (line: string) => void,
): Promise<readonly string[]> {
  await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
  await requireOwnData(config, db)
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const storages = await storagesIn(repositoriesDir(config))
  // Awaited here, because the app is disposed when this function ends.
  return [
    ...(await checkRepositories(ctx, storages, progress)),
    ...(await checkSideRepositories(ctx, storages, progress)),
    ...(await checkNamedBlobs(
      ctx.db,
      blobCheck(ctx.blobs, readsBlobs ? await damagedIn(ctx.blobs, progress) : undefined),
    )),
    ...(await checkUnknownObjects(app.blobs)),
  ]
}

/** Reports objects in the store of which the database knows nothing. */
async function checkUnknownObjects(blobs: LocatedBlobs): Promise<string[]> {
  const unknown = await blobs.countUnknown()
  return unknown === 0
    ? []
    : [
        `the object storage has ${unknown} objects that the database does not know: they are newer than a restored backup`,
      ]
}
