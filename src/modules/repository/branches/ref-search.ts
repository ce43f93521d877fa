/** Names that match a search, ignoring case: `^prefix`, `suffix$`, both, or a part. An exact match comes first. */
export function searchNames<Named>(all: readonly Named[], search: string, nameOf: (each: Named) => string): Named[] {
  const begins = search.startsWith('^')
  const ends = search.endsWith('$') && search.length > 1
  const text = search.slice(begins ? 1 : 0, ends ? -1 : undefined).toLowerCase()
  const found = all.filter((each) => {
    const name = nameOf(each).toLowerCase()
    if (begins && ends) return name === text
    return begins ? name.startsWith(text) : ends ? name.endsWith(text) : name.includes(text)
  })
  const exact = begins || ends ? -1 : found.findIndex((each) => nameOf(each) === search)
  return exact <= 0 ? found : [found[exact]!, ...found.slice(0, exact), ...found.slice(exact + 1)]
}
