import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { loadAppModule } from './app-module.ts'
import { type Finding, findings } from './doctor-finding.ts'
import { explain } from './explain.ts'
import type { Parts } from './parts.ts'
import type { Terminal } from './terminal.ts'
import { withDatabase } from './with-services.ts'

const blobs = findings('Blobs')

/** Whether the stores of blobs accept, return and delete a few bytes. */
export async function checkBlobs(config: Config, parts: Parts, terminal: Terminal): Promise<Finding[]> {
  const isS3 = config.blobUrl.startsWith('s3:')
  const isNew = config.database.kind === 'embedded' && !existsSync(join(config.dataDir, 'postgres', 'cluster'))
  if (isNew && !isS3) return [blobs.ok('the first blob creates the folder')]
  const app = await loadAppModule(parts.appModule)
  try {
    if (isNew) await app.probeBlobs(config, undefined)
    else await withDatabase(config, terminal, (url) => app.probeBlobs(config, url))
    return [blobs.ok(`${config.blobUrl}: writing, reading and deleting work`)]
  } catch (error) {
    return [
      blobs.failed(
        `${config.blobUrl} ${explain(error).sentence.replace(/\.$/, '')}`,
        isS3
          ? 'Check STITHY_BLOB_URL, the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) and the permissions in docs/operators/object-storage.md.'
          : 'Let the user of the service write there, or set STITHY_BLOB_URL.',
      ),
    ]
  }
}
