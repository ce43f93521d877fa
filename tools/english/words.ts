export type Counts = { readonly [word: string]: number }

/** Words of the old idiom, by the name under which `limits.json` has the limit. Plain English has a better word for each. */
const idiom: Readonly<Record<string, RegExp>> = {
  somebody: /\bsomebody\b/gi,
  nobody: /\bnobody\b/gi,
  whoever: /\bwhoever\b/gi,
  everybody: /\beverybody\b/gi,
  he: /\b(he|him|his|himself)\b/gi,
  'is told': /\b(is|are|was|were|be|being) told\b/gi,
  'so many': /\bso many\b/gi,
  door: /\bdoors?\b/gi,
  patience: /\bpatience\b/gi,
}

/** How often each word of the old idiom occurs in all texts together, in any case. */
export const countWords = (texts: readonly string[]): Counts =>
  Object.fromEntries(
    Object.entries(idiom).map(([word, pattern]) => [
      word,
      texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0),
    ]),
  )

/** A sentence for each word that occurs more often than its limit. A word without a limit may not occur. */
export const grown = (counts: Counts, limits: Counts): string[] =>
  Object.entries(counts)
    .filter(([word, count]) => count > (limits[word] ?? 0))
    .map(([word, count]) => `"${word}" occurs ${count} times, limit ${limits[word] ?? 0}`)
