const formats = ['png', 'jpg', 'jpeg', 'gif', 'bmp', 'tiff', 'ico'] as const
type Format = (typeof formats)[number]

export const unsupported = `file format is not supported. Please try one of the following supported formats: ${formats.join(', ')}`
export const largestBytes = 200 * 1024
export const tooBig = 'is too big (should be at most 200 KB)'

const contentTypes: Readonly<Record<Format, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  ico: 'image/x-icon',
}

/** Magic bytes of each format: by its name alone, a page with scripts could be served as a picture. */
const magicBytes: Readonly<Record<Format, readonly string[]>> = {
  png: ['89504e470d0a1a0a'],
  jpg: ['ffd8ff'],
  jpeg: ['ffd8ff'],
  gif: ['474946383761', '474946383961'],
  bmp: ['424d'],
  tiff: ['49492a00', '4d4d002a'],
  ico: ['00000100'],
}

const extensionOf = (filename: string): string => /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''

const formatOf = (filename: string): Format | undefined => formats.find((format) => format === extensionOf(filename))

/** Media type for serving a stored avatar; its name was checked at upload. */
export const contentTypeOf = (filename: string): string => {
  const format = formatOf(filename)
  return format ? contentTypes[format] : 'application/octet-stream'
}

/** Whether these first bytes are the magic bytes of the format that the file extension claims. */
export function isPicture(filename: string, head: Buffer): boolean {
  const format = formatOf(filename)
  return format !== undefined && magicBytes[format].some((beginning) => head.toString('hex').startsWith(beginning))
}

/** A file name that is safe in URLs, headers and on disk, with its extension. */
export function safeName(filename: string): string {
  const extension = extensionOf(filename)
  const stem = filename.slice(0, filename.length - extension.length - 1).replace(/[^A-Za-z0-9_-]+/g, '_')
  return `${stem.slice(0, 100) || 'avatar'}.${extension}`
}
