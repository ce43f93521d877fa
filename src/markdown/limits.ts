/**
 * Limits on the work for one document, counted in characters and elements, so that they do not depend on the machine. A document
 * that exceeds one is shown as its text.
 */
export const limits = {
  /** Maximum characters of a document. Titles are shorter. */
  text: 524_288,
  /** Maximum characters of the HTML, before and after it is sanitized. */
  html: 2_097_152,
  /** Maximum elements. The parser of HTML may create many from few tags: each paragraph repeats open formatting. */
  elements: 50_000,
  /** Maximum depth of elements. */
  depth: 200,
  /** Maximum footnotes. The extension copies all of a document for each. */
  footnotes: 500,
  /** Maximum references; further ones stay as written. */
  references: 5_000,
  /** Maximum different targets of references: they are parameters of statements. */
  targets: 1_000,
} as const

/** A document exceeds a limit. */
export class TooComplex extends Error {}
