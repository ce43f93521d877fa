const maxNameBytes = 255
/** Maximum length of an extension; a longer one may be truncated. */
const maxExtensionBytes = 32

/**
 * A file name that is safe in URLs, Markdown, headers and on disk: letters, digits and marks of any script, `_`, `-`,
 * `+` and `.`; other characters become `_`. It does not begin with a dot and has 1 to 255 bytes including the
 * extension.
 */
export function safeFilename(given: string): string {
  const name = given
    .toWellFormed()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}.+-]/gu, '_')
    .replace(/^(?=\.)/, '_')
  if (name === '') return 'unnamed'
  const extension = extensionOf(name)
  const kept = Buffer.byteLength(extension) <= maxExtensionBytes ? extension : ''
  return cut(name.slice(0, name.length - kept.length), maxNameBytes - Buffer.byteLength(kept)) + kept
}

/** From the last dot, which is not the first character. */
export const extensionOf = (name: string): string => /(?<=.)\.[^.]*$/s.exec(name)?.[0] ?? ''

/** The longest prefix of at most `bytes` bytes, in whole characters. */
function cut(text: string, bytes: number): string {
  const encoded = Buffer.from(text)
  if (encoded.length <= bytes) return text
  let end = bytes
  while ((encoded[end]! & 0xc0) === 0x80) end--
  return encoded.toString('utf8', 0, end)
}
