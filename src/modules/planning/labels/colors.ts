import { namedColors } from './color-names.ts'

/** Of labels that nobody gave one. */
export const defaultColor = '#428BCA'

/** `#RRGGBB` of what may also be `#RGB` or a name that CSS knows; nothing for anything else. */
export function parseColor(text: string): string | undefined {
  const color = text.trim()
  if (/^#[0-9a-f]{6}$/i.test(color)) return color
  if (/^#[0-9a-f]{3}$/i.test(color)) return color.replace(/[0-9a-f]/gi, '$&$&')
  return namedColors.get(color.toLowerCase())
}

/** What can be read upon a colour. Source: recorded behaviour. */
export function textColor(color: string): string {
  const bytes = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return bytes.reduce((sum, byte) => sum + byte, 0) > 500 ? '#333333' : '#FFFFFF'
}
