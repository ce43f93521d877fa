import type { FieldComplaints } from '../../kernel/failure.ts'

/** Compat: complaints about fields as a hash in Ruby's spelling, which some responses contain inside a text. */
export const rubyHash = (fields: FieldComplaints): string =>
  `{${Object.entries(fields)
    .map(([name, texts]) => `:${name}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`)
    .join(', ')}}`
