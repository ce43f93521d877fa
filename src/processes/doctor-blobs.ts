import { isS3 } from '../blobs/location.ts'
import type { Config } from '../config.ts'
import { hasCluster } from '../db/embedded/start.ts'
import { loadAppModule } from './app-module.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { explain } from './explain.ts'
import type { Parts } from './parts.ts'
import type { Terminal } from './terminal.ts'
import { withDatabase } from './with-services.ts'

const blobs = findings('Blobs')

/** Whether the stores of blobs accept, return and delete a few bytes. */
export async function checkBlobs(config: Config, parts: Parts, terminal: Terminal): Promise<Finding[]> {
  const isObjectStorage = isS3(config.blobUrl)
  const isNew = config.database.kind === 'embedded' && !hasCluster(config.dataDir)
  if (isNew && !isObjectStorage) return [blobs.ok('the first blob creates the folder')]
  const app = await loadAppModule(parts.appModule)
  try {
    if (isNew) await app.probeBlobs(config, undefined)
    else await withDatabase(config, terminal, (url) => app.probeBlobs(config, url))
    return [blobs.ok(`${config.blobUrl}: writing, reading and deleting work`)]
  } catch (error) {
    return [
      blobs.failed(
        `${config.blobUrl} ${explain(error).sentence.replace(/\.$/, '')}`,
        isObjectStorage
          ? 'Check STITHY_BLOB_URL, the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and the permissions in docs/operators/object-storage.md.'
          : 'Let the user of the service write there, or set STITHY_BLOB_URL.',
      ),
    ]
  }
}
