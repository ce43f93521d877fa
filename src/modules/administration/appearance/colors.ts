/** Errors of a colour, which must be `#abc` or `#aabbcc`. */
export const colorViolations = (color: string): string[] =>
  /^#([0-9a-f]{3}){1,2}$/i.test(color) ? [] : ['must be a valid color code']
