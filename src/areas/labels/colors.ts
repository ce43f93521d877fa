/** Of labels that nobody gave one. */
export const defaultColor = '#428BCA'

/** What can be read upon a colour. Source: recorded behaviour. */
export function textColor(color: string): string {
  const bytes = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return bytes.reduce((sum, byte) => sum + byte, 0) > 500 ? '#333333' : '#FFFFFF'
}
