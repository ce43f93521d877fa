/** A path, prepared for lookups in git's changed-path Bloom filters. */
export type ChangedPaths = {
  /** Two hashes of the path, followed by two for each parent folder. */
  readonly hashes: Uint32Array
  /** Bit positions by filter size in bytes: filters are many, their sizes few. */
  readonly bits: Uint32Array[]
}

/** Hashes of a path; `undefined` for a path that is not ASCII, because platforms and filter versions hash those differently. */
export function changedPathsOf(path: string): ChangedPaths | undefined {
  if (!/^[\x01-\x7f]+$/.test(path)) return undefined
  const bytes = Buffer.from(path, 'latin1')
  const hashes: number[] = []
  for (let end = bytes.length; end > 0; end = bytes.lastIndexOf(0x2f, end - 1)) {
    const name = bytes.subarray(0, end)
    hashes.push(murmur3(0x293ae76f, name), murmur3(0x7e646e2c, name))
  }
  return { hashes: Uint32Array.from(hashes), bits: [] }
}

/**
 * Whether the Bloom filter from `start` to `end` may contain the path and all its parent folders. False is certain; true may be
 * a false positive.
 */
export function isMaybeIn(bits: Buffer, start: number, end: number, hashes: number, paths: ChangedPaths): boolean {
  const bytes = end - start
  const isKnown = hashes === usualHashes && bytes < paths.bits.length
  const wanted = (isKnown ? paths.bits[bytes] : undefined) ?? bitsFor(paths, bytes, hashes)
  for (let index = 0; index < wanted.length; index++) {
    const bit = wanted[index]!
    if ((bits[start + (bit >>> 3)]! & (1 << (bit & 7))) === 0) return false
  }
  return true
}

/** Git's defaults: filters for at most 512 paths, ten bits per path. */
const usualHashes = 7
const mostBytes = 1024

function bitsFor(paths: ChangedPaths, bytes: number, hashes: number): Uint32Array {
  const found = new Uint32Array((paths.hashes.length / 2) * hashes)
  for (let path = 0, at = 0; path < paths.hashes.length; path += 2) {
    const step = paths.hashes[path + 1]!
    for (let index = 0, hash = paths.hashes[path]!; index < hashes; index++, hash = (hash + step) >>> 0)
      found[at++] = hash % (bytes * 8)
  }
  if (hashes === usualHashes && bytes <= mostBytes) paths.bits[bytes] = found
  return found
}

/** MurmurHash3, 32 bits. */
function murmur3(seed: number, data: Buffer): number {
  let hash = seed
  const whole = data.length & ~3
  for (let at = 0; at < whole; at += 4) {
    hash ^= scrambled(data.readUInt32LE(at))
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  if (whole < data.length) hash ^= scrambled(data.readUIntLE(whole, data.length - whole))
  hash ^= data.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function scrambled(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}
