import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A record as JSON, with a digest of it. */
export class RecordText {
  readonly bytes: Buffer
  readonly digest: string

  constructor(record: object) {
    this.bytes = Buffer.from(JSON.stringify(record))
    this.digest = hash('md5', this.bytes, 'base64')
  }
}

const maximumBytes = 24 * 1024 * 1024
/** What an entry costs besides its bytes, roughly. */
const overheadBytes = 400

/** Texts of records that one process keeps. Their keys name a version, so that none goes stale. */
export class RecordTexts extends LRUCache<string, RecordText> {
  constructor() {
    super({ maxSize: maximumBytes, sizeCalculation: ({ bytes }, key) => bytes.length + key.length + overheadBytes })
  }
}
