import { extensionOf } from './filename.ts'

/** File types that pages may show inline: none that can contain a script. By extension. */
const shown: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  ico: 'image/x-icon',
  webp: 'image/webp',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
}

/** Media type of a picture or video; `undefined` for all other files, which are downloads only. */
export function shownMediaType(filename: string): string | undefined {
  const extension = extensionOf(filename).slice(1).toLowerCase()
  return Object.hasOwn(shown, extension) ? shown[extension] : undefined
}
