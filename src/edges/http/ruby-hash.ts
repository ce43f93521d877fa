import type { FieldViolations } from '../../kernel/failure.ts'

/** Compat: violations about fields as a hash in Ruby's spelling, which some responses contain inside a text. */
export const rubyHash = (fields: FieldViolations): string =>
  `{${Object.entries(fields)
    .map(([name, texts]) => `:${name}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`)
    .join(', ')}}`
