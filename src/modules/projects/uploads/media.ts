import { extensionOf } from './filename.ts'

/** What texts show in place, and browsers may, too: nothing that could hold a script. By extension, since names are what tells. */
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

/** The media type of a picture or video; `undefined` for every other file, which is only ever handed out to be saved. */
export function shownMediaType(filename: string): string | undefined {
  const extension = extensionOf(filename).slice(1).toLowerCase()
  return Object.hasOwn(shown, extension) ? shown[extension] : undefined
}
