/**
 * The known names that `name`, with words joined by `_`, is probably meant to be: all that have all of its words, or the one
 * that needs the fewest edits (insertions, deletions and replacements of a letter). Ignores case. `known` is not empty.
 */
export function nearestNames(name: string, known: readonly string[]): readonly string[] {
  const text = name.toUpperCase().slice(0, maxLength)
  const words = text.split('_')
  // One word is the prefix that all names share.
  const longer = words.length < 2 ? [] : known.filter((each) => words.every((word) => each.split('_').includes(word)))
  if (longer.length > 0) return longer
  const edits = known.map((each) => editsBetween(text, each))
  return [known[edits.indexOf(Math.min(...edits))]!]
}

/** Levenshtein distance. Costs the product of both lengths. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
  }
  return row[b.length]!
}

/** Bounds the cost for a long name. */
const maxLength = 100
