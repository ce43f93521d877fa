import { namedColors } from './color-names.ts'

/** Default colour. */
export const defaultColor = '#428BCA'

/** Normalises `#RGB`, `#RRGGBB` and CSS colour names to `#RRGGBB`; undefined for anything else. */
export function parseColor(text: string): string | undefined {
  const color = text.trim()
  if (/^#[0-9a-f]{6}$/i.test(color)) return color
  if (/^#[0-9a-f]{3}$/i.test(color)) return color.replace(/[0-9a-f]/gi, '$&$&')
  return namedColors.get(color.toLowerCase())
}

/** A text colour that is readable on this background. Source: recorded behaviour. */
export function textColor(color: string): string {
  const bytes = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return bytes.reduce((sum, byte) => sum + byte, 0) > 500 ? '#333333' : '#FFFFFF'
}
