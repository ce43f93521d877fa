const blockBytes = 512

/** Largest size that fits into the eleven octal digits of the header. */
const maxOctal = 8 ** 11 - 1

/**
 * The header of a file or folder in a ustar archive, readable by the owner only. `path` has at most 100 bytes; a folder ends in `/`.
 * With the type `x` it is the header of attributes for the next file.
 */
export function tarHeader(path: string, sizeBytes: number, changedAt: Date, type?: 'x'): Buffer {
  const name = Buffer.from(path)
  if (name.length > 100) throw new Error(`too long for a tar header: ${path}`)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, at: number, length: number) =>
    header.write(
      `${Math.floor(value)
        .toString(8)
        .padStart(length - 1, '0')}\0`,
      at,
      'latin1',
    )
  const isFolder = path.endsWith('/')
  name.copy(header)
  octal(isFolder ? 0o700 : 0o600, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  if (sizeBytes <= maxOctal) octal(sizeBytes, 124, 12)
  else {
    // A number of base 256, which GNU and BSD tar read.
    header.writeUInt8(0x80, 124)
    header.writeBigUInt64BE(BigInt(sizeBytes), 128)
  }
  octal(changedAt.getTime() / 1000, 136, 12)
  header.fill(' ', 148, 156)
  header.write(type ?? (isFolder ? '5' : '0'), 156, 'latin1')
  header.write('ustar\u000000', 257, 'latin1')
  let sum = 0
  for (const byte of header) sum += byte
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

/** The header of a file whose path may be longer, with the path in attributes before it (pax). */
export function longTarHeader(path: string, sizeBytes: number, changedAt: Date): Buffer {
  if (Buffer.byteLength(path) <= 100) return tarHeader(path, sizeBytes, changedAt)
  const attribute = Buffer.from(paxAttribute('path', path))
  return Buffer.concat([
    tarHeader('PaxHeader', attribute.length, changedAt, 'x'),
    attribute,
    tarPadding(attribute.length),
    tarHeader('long-path', sizeBytes, changedAt),
  ])
}

/** `<length> <name>=<value>\n`, where the length counts itself. */
function paxAttribute(name: string, value: string): string {
  const rest = Buffer.byteLength(` ${name}=${value}\n`)
  let length = rest + String(rest).length
  if (String(length).length > String(rest).length) length = rest + String(length).length
  return `${length} ${name}=${value}\n`
}

/** The zeros that follow a file of this size. */
export const tarPadding = (sizeBytes: number): Buffer =>
  Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes)

export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes)
