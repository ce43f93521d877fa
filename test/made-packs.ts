import { hash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

export type Kind = 'commit' | 'tree' | 'blob' | 'tag'
export type Made = { readonly kind: Kind; readonly oid: string; readonly content: Buffer }

export function made(kind: Kind, content: Buffer): Made {
  return { kind, content, oid: hash('sha1', Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])) }
}

const types = { commit: 1, tree: 2, blob: 3, tag: 4, delta: 7 }

/** An entry of a pack: an object, or a delta with the id of its base. */
export function entry(type: keyof typeof types, content: Buffer, base?: string): Buffer {
  const head: number[] = []
  let size = content.length
  let byte = (types[type] << 4) | (size & 15)
  for (size >>= 4; size > 0; size >>= 7) {
    head.push(byte | 0x80)
    byte = size & 127
  }
  head.push(byte)
  return Buffer.concat([Buffer.from(head), Buffer.from(base ?? '', 'hex'), deflateSync(content)])
}

/** A size in the header of a delta. */
export const varint = (size: number): number[] => (size < 128 ? [size] : [(size & 127) | 128, ...varint(size >> 7)])

/** A delta that takes nothing of its base, whose size it names. */
export function deltaOf(base: Made, target: Made): Buffer {
  const parts: Buffer[] = [Buffer.from([...varint(base.content.length), ...varint(target.content.length)])]
  for (let at = 0; at < target.content.length; at += 127) {
    const part = target.content.subarray(at, at + 127)
    parts.push(Buffer.from([part.length]), part)
  }
  return entry('delta', Buffer.concat(parts), base.oid)
}

/** A pack of entries, with its hash. */
export function packOf(entries: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12)
  header.write('PACK')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries])
  return Buffer.concat([body, hash('sha1', body, 'buffer')])
}
