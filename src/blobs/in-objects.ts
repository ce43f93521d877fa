import { s3Address } from './location.ts'
import type { S3Objects } from './s3-client.ts'

/** Does something with the objects below the prefix of a URL, and closes the connections. Loads the AWS SDK. */
export async function inObjects<T>(url: string, work: (objects: S3Objects) => Promise<T>): Promise<T> {
  const { S3Objects } = await import('./s3-client.ts')
  const objects = new S3Objects(s3Address(url))
  try {
    return await work(objects)
  } finally {
    objects.close()
  }
}
