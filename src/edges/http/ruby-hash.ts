import type { FieldViolations } from '../../kernel/failure.ts'

/** Compat: violations of fields as a Ruby hash in text, which some error messages contain. */
export const rubyHash = (fields: FieldViolations): string =>
  `{${Object.entries(fields)
    .map(([name, texts]) => `:${name}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`)
    .join(', ')}}`
