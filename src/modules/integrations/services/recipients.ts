/** The addresses in a text, each once. */
export function recipientsIn(text: string): string[] {
  const addresses = new Map<string, string>()
  for (const address of text.split(/[\s,;]+/))
    if (address !== '' && !addresses.has(address.toLowerCase())) addresses.set(address.toLowerCase(), address)
  return [...addresses.values()]
}
