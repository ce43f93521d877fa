import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A record as JSON, with its digest. */
export class RecordText {
  readonly bytes: Buffer
  readonly digest: string

  constructor(bytes: Buffer, digest = hash('md5', bytes, 'base64')) {
    this.bytes = bytes
    this.digest = digest
  }

  static of(record: object): RecordText {
    return new RecordText(Buffer.from(JSON.stringify(record)))
  }

  /** A non-empty record with lists of other records as its last properties. */
  static withLists(record: object, lists: Readonly<Record<string, readonly RecordText[]>>): RecordText {
    const start = Buffer.from(JSON.stringify(record).slice(0, -1))
    const parts = Object.entries(lists).flatMap(([name, texts]) => [Buffer.from(`,"${name}":`), listBytes(texts)])
    const digests = Object.values(lists).map((texts) => texts.map(({ digest }) => digest).join())
    return new RecordText(
      Buffer.concat([start, ...parts, end]),
      hash('md5', [start.toString(), ...digests].join(' '), 'base64'),
    )
  }
}

const [open, comma, close, end] = ['[', ',', ']', '}'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
]

/** An array of records. */
export const listBytes = (texts: readonly RecordText[]): Buffer =>
  Buffer.concat([open, ...texts.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [comma, bytes])), close])

/** Approximate memory of an entry besides its bytes. */
const overheadBytes = 400

/** Cache of serialized records, per process. Keys contain a version, so entries are never stale. */
export class RecordTexts extends LRUCache<string, RecordText> {
  constructor(maximumBytes: number) {
    super({
      maxSize: Math.floor(maximumBytes),
      sizeCalculation: ({ bytes }, key) => bytes.length + key.length + overheadBytes,
    })
  }
}
