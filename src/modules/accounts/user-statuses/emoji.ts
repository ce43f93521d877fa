import { createRequire } from 'node:module'
import { escaped } from '../../../kernel/html.ts'

const load = createRequire(import.meta.url)
/** The list is large, and read with the first name that somebody looks up. */
const nameList = (): typeof import('node-emoji') => load('node-emoji')

/** Short names in wide use that the list lacks or has under another name. */
const furtherSigns: Readonly<Record<string, string>> = {
  beach: '🏖️',
  bicyclist: '🚴',
  bow: '🙇',
  facepalm: '🤦',
  head_bandage: '🤕',
  hugging: '🤗',
  island: '🏝️',
  runner: '🏃',
  running: '🏃',
  shrug: '🤷',
  spiral_calendar_pad: '🗓️',
  surfer: '🏄',
  swimmer: '🏊',
  thermometer_face: '🤒',
  thinking_face: '🤔',
  thumbsdown: '👎',
  thumbsup: '👍',
  walking: '🚶',
  zipper_mouth: '🤐',
}

/** The sign of a short name. The list takes names with colons around them, too; we do not. */
const signOf = (name: string): string | undefined =>
  /^[\w+-]+$/.test(name)
    ? (nameList().get(name) ?? (Object.hasOwn(furtherSigns, name) ? furtherSigns[name] : undefined))
    : undefined

export const isEmoji = (name: string): boolean => signOf(name) !== undefined

/** Text as HTML that shows it, with `:coffee:` as the sign it names. */
export const renderEmoji = (text: string): string =>
  escaped(text).replace(/:([\w+-]+):/g, (code, name: string) => signOf(name) ?? code)
