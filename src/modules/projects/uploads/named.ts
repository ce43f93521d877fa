/** Maximum uploads that one text refers to; further ones are ignored. */
const maxUploads = 1000

/** The secrets of uploads to which a text links by `/uploads/<secret>/<file>`, without duplicates. */
export function namedUploads(text: string): string[] {
  const secrets = new Set<string>()
  for (const [, secret] of text.matchAll(/\/uploads\/([0-9a-f]{32})\//g)) {
    if (secrets.size >= maxUploads) break
    secrets.add(secret!)
  }
  return [...secrets]
}
