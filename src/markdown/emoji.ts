import { createRequire } from 'node:module'
import { literalMark } from './literal.ts'

const load = createRequire(import.meta.url)
/** Loaded on first use: the list is large. */
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

/** The emoji of a short name. Unlike the list, refuses names with colons around them. */
const signOf = (name: string): string | undefined =>
  /^[\w+-]+$/.test(name)
    ? (nameList().get(name) ?? (Object.hasOwn(furtherSigns, name) ? furtherSigns[name] : undefined))
    : undefined

export const isEmoji = (name: string): boolean => signOf(name) !== undefined

/** The two names of a thumb are one emoji, so that votes are counted by one of them. */
const usualNames: Readonly<Record<string, string>> = { '+1': 'thumbsup', '-1': 'thumbsdown' }

/** The short name under which an emoji is stored. */
export const usualName = (name: string): string => (Object.hasOwn(usualNames, name) ? usualNames[name]! : name)

const code = new RegExp(`(?<!${literalMark}):([\\w+-]{1,100}):`, 'g')

/** Replaces short names such as `:coffee:` by emoji. */
export const withEmoji = (text: string): string =>
  text.includes(':') ? text.replace(code, (written, name: string) => signOf(name) ?? written) : text
