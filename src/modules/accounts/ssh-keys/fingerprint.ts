/**
 * Parses a fingerprint: MD5 as pairs of hex digits, with or without `MD5:`, or SHA-256 in base64 after `SHA256:`.
 * `undefined` if it is neither.
 */
export function parseFingerprint(text: string): { md5: string } | { sha256: string } | undefined {
  const md5 = /^(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2})$/i.exec(text)?.[1]
  if (md5 !== undefined) return { md5: md5.toLowerCase() }
  // Compat: a `+` that a client forgot to encode in a query string arrives as a blank.
  const sha256 = /^SHA256:([A-Za-z0-9+/ ]{43})=?$/.exec(text)?.[1]
  return sha256 === undefined ? undefined : { sha256: sha256.replaceAll(' ', '+') }
}
